import { password, program, say, startFleet } from './fleet.mjs';

/** A hub and three agents on this machine, until Ctrl+C. */
const { url, hosts } = await startFleet(['web-1', 'web-2', 'db-1']);
say(`hub    ${url}/console/  (admin, ${password})`);
for (const { name, code, startAgent } of hosts) {
  const { pid } = startAgent(url, code);
  say(`${name.padEnd(6)} process ${pid}; kill -9 ${pid} makes it silent after 20 s`);
}
say(`
Send an alert from web-1:  node ${program} send --data-dir ${hosts[0].dataDir} --level ERROR "the disk is full"
Ctrl+C stops everything.`);
