import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const program = join(dirname(fileURLToPath(import.meta.url)), '../../dist/signalbox.js');
const folder = mkdtempSync(join(tmpdir(), 'signalbox-fleet-'));
const port = process.env.PORT ?? '8090';
const url = `http://127.0.0.1:${port}`;
const password = 'example-password';
const names = ['web-1', 'web-2', 'db-1'];
const children = [];

const say = (text) => process.stdout.write(`${text}\n`);

/** Starts signalbox as a process that ends with this process. */
const start = (args, variables = {}) => {
  const env = { PATH: process.env.PATH, SIGNALBOX_LOG_LEVEL: 'warn', ...variables };
  // In a process group of its own, because Ctrl+C in a terminal must not reach it twice.
  const child = spawn(process.execPath, [program, ...args], {
    detached: true,
    env,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  children.push(child);
  return child;
};

/** Sends a request repeatedly until it succeeds. */
const ask = async (path, options) => {
  for (let tries = 0; ; tries += 1) {
    const response = await fetch(url + path, options).catch(() => undefined);
    if (response?.ok) return response.json();
    if (tries === 100) throw new Error(`${path} does not work: ${response?.status ?? 'no response'}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
};

const stop = () => {
  for (const child of children) child.kill();
  setTimeout(() => {
    rmSync(folder, { recursive: true, force: true });
    process.exit();
  }, 3000);
};

/** Runs a hub and three agents on this machine until Ctrl+C. */
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, stop);
try {
  start(['--port', port, '--data-dir', join(folder, 'hub')], {
    SIGNALBOX_ADMIN_PASSWORD: password,
    SIGNALBOX_READER_PASSWORD: password.toUpperCase(),
    SIGNALBOX_JWT_SECRET: 'only for this example on one machine',
    SIGNALBOX_SILENT_SECONDS: '20',
  });
  const body = JSON.stringify({ Username: 'admin', Password: password });
  const { token } = await ask('/api/auth/login', { method: 'POST', body });
  const processes = [];
  for (const name of names) {
    const env = { PATH: process.env.PATH, SIGNALBOX_URL: url, SIGNALBOX_KEY: token };
    const { stdout, stderr } = spawnSync(process.execPath, [program, 'add-host', name], { env, encoding: 'utf8' });
    if (stdout === '') throw new Error(stderr);
    // Without its first word, the line that add-host prints is the command line of the agent.
    const words = stdout.trim().split(' ').slice(1);
    processes.push([name, start([...words, '--data-dir', join(folder, name)]).pid]);
  }
  say(`hub    ${url}/console/  (admin, ${password})`);
  for (const [name, pid] of processes)
    say(`${name.padEnd(6)} process ${pid}; kill -9 ${pid} makes it silent after 20 s`);
  say(`
Send an alert from web-1:  node ${program} send --data-dir ${join(folder, 'web-1')} --level ERROR "the disk is full"
Ctrl+C stops everything.`);
} catch (error) {
  say(error.message);
  process.exitCode = 1;
  stop();
}
