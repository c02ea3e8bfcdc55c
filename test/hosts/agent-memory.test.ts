import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { atEnd, type Scope } from '../support/scope.ts';
import { waitUntil } from '../support/wait.ts';
import { addHost, startAgent } from './support/agent.ts';
import { readHost } from './support/hosts.ts';
import { startHub } from './support/hub.ts';

/** Maximum resident memory in MiB that an idle agent may use beyond the memory of an empty Node.js process. */
const mostMiB = 17;

const readMiB = (pid: number | undefined): number => {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
};

/** Measures Node.js without a program, because its share differs between versions. */
const measureNode = async (t: Scope): Promise<number> => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)']);
  atEnd(t, () => void child.kill('SIGKILL'));
  let last = 0;
  let readings = 0;
  await waitUntil('the memory of Node.js is steady', () => {
    const now = readMiB(child.pid);
    readings = now === last ? readings + 1 : 0;
    last = now;
    return now > 0 && readings > 50;
  });
  return last;
};

test(`an idle agent takes at most ${mostMiB} MiB more than Node.js`, { timeout: 120_000 }, async (t) => {
  const { hub, token } = await startHub(t);
  const variables = { SIGNALBOX_DEFAULT_WATCHES: 'true' };
  const agent = await startAgent(t, await addHost(hub, token, 'web-1'), { variables });
  const begun = performance.now();
  await waitUntil('the hub has a report', async () => (await readHost(hub, token, 'web-1')).state === 'up');
  const node = await measureNode(t);
  // The agent frees the memory of its start after 20 seconds.
  const isSmall = () => performance.now() - begun > 20_000 && readMiB(agent.child.pid) <= node + mostMiB;
  await waitUntil('the agent is small', isSmall, 60_000).catch(() => {
    assert.fail(`${readMiB(agent.child.pid).toFixed(1)} MiB, Node.js ${node.toFixed(1)} MiB`);
  });
  t.diagnostic(`${readMiB(agent.child.pid).toFixed(1)} MiB, Node.js ${node.toFixed(1)} MiB`);
});
