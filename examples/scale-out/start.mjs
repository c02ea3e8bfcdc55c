import { existsSync } from 'node:fs';
import { folder, ports, startDatabases, startInstance, startProxy, stopAll, url } from './machines.mjs';

const say = (text) => process.stdout.write(`${text}\n`);

/** Runs HAProxy, two instances, a primary and a synchronous standby on this machine until Ctrl+C. */
if (existsSync(folder)) {
  say(`${folder} exists: the example is already running, or was killed; end its processes and delete the folder`);
  process.exit(1);
}
let isStopping = false;
const stop = async () => {
  if (isStopping) return;
  isStopping = true;
  say('stopping');
  await stopAll();
  process.exit();
};
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);
try {
  await startDatabases();
  // The second instance finds the tables that the first has created. Both may also start at the same time.
  await Promise.all(['one', 'two'].map(startInstance));
  await startProxy();
} catch (error) {
  say(`${error.message}\n${error.stderr ?? ''}`);
  process.exitCode = 1;
  await stop();
}
say(`signalbox behind HAProxy  ${url}  (admin, example-password)
instance one              http://127.0.0.1:${ports.one}
instance two              http://127.0.0.1:${ports.two}
primary                   127.0.0.1:${ports.primary}
synchronous standby       127.0.0.1:${ports.standby}
logs and process ids      ${folder}
Ctrl+C stops everything.`);
setInterval(() => undefined, 60_000);
