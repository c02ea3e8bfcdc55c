import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { kill, promote, startInstance, url } from './machines.mjs';

/**
 * Runs the drill while clients work: kills the primary and promotes the standby, then kills an instance and starts it
 * again.
 */
const seconds = 30;
const began = performance.now();
const say = (text) =>
  process.stdout.write(`${((performance.now() - began) / 1000).toFixed(1).padStart(5)} s  ${text}\n`);

const client = spawn(process.execPath, [fileURLToPath(new URL('client.mjs', import.meta.url)), url, String(seconds)], {
  stdio: 'inherit',
});
const ended = once(client, 'exit');
say('24 clients begin');
await setTimeout(8000);
kill('primary');
say('the primary is killed');
await setTimeout(1000);
promote();
say('the standby is promoted and takes changes');
await setTimeout(8000);
kill('two');
say('instance two is killed');
await setTimeout(4000);
await startInstance('two');
say('instance two answers again');
const [code] = await ended;
process.exitCode = code;
