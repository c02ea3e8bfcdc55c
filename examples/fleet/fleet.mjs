import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const program = join(dirname(fileURLToPath(import.meta.url)), '../../dist/signalbox.js');
export const password = 'example-password';

export const say = (text) => process.stdout.write(`${text}\n`);

/** Starts a hub with these hosts, and returns functions that start their agents; everything ends with this process. */
export const startFleet = async (names, stderr = 'inherit', settings = {}) => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-fleet-'));
  const url = `http://127.0.0.1:${process.env.PORT ?? '8090'}`;
  const children = new Set();
  const start = (args, variables = {}) => {
    const env = {
      PATH: process.env.PATH,
      SIGNALBOX_LOG_LEVEL: 'warn',
      SIGNALBOX_DEFAULT_WATCHES: 'false',
      ...variables,
    };
    // In a process group of its own, because Ctrl+C in a terminal must not reach it twice.
    const child = spawn(process.execPath, [program, ...args], {
      detached: true,
      env,
      cwd: folder,
      stdio: ['ignore', 'ignore', stderr],
    });
    children.add(child);
    child.once('exit', () => children.delete(child));
    return child;
  };
  process.once('exit', () => {
    for (const child of children) child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  /** Ends all processes within three seconds. */
  const stop = () => {
    for (const child of children) child.kill();
    setTimeout(process.exit, 3000);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, stop);
  const request = async (path, token, body) => {
    const headers = token ? { authorization: `Bearer ${token}` } : {};
    const response = await fetch(
      url + path,
      body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers },
    );
    if (!response.ok) throw new Error(`${path} got ${response.status}: ${await response.text()}`);
    return response.json();
  };
  try {
    writeFileSync(join(folder, 'config.json'), JSON.stringify({ silentSeconds: 20, ...settings }), { mode: 0o600 });
    const args = [
      '--config',
      join(folder, 'config.json'),
      '--port',
      new URL(url).port,
      '--data-dir',
      join(folder, 'hub'),
    ];
    const hub = start(args, {
      SIGNALBOX_ADMIN_PASSWORD: password,
      SIGNALBOX_READER_PASSWORD: password.toUpperCase(),
      SIGNALBOX_JWT_SECRET: 'only for this example on one machine',
    });
    for (let tries = 0; !(await fetch(`${url}/livez`).catch(() => undefined))?.ok; tries += 1) {
      if (hub.exitCode !== null || tries === 100) throw new Error('the hub does not start');
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    const { token } = await request('/api/auth/login', undefined, { Username: 'admin', Password: password });
    const hosts = names.map((name) => {
      const env = { PATH: process.env.PATH, SIGNALBOX_URL: url, SIGNALBOX_KEY: token };
      const { stdout, stderr } = spawnSync(process.execPath, [program, 'add-host', name], { env, encoding: 'utf8' });
      if (stdout === '') throw new Error(stderr);
      // The line is `signalbox agent --hub URL CODE`; a restarted agent needs no code.
      const code = stdout.trim().split(' ').at(-1);
      const dataDir = join(folder, name);
      const startAgent = (hubUrl = url, ...more) => start(['agent', '--hub', hubUrl, ...more, '--data-dir', dataDir]);
      return { name, code, dataDir, startAgent };
    });
    return { url, hosts, stop, ask: (path) => request(path, token) };
  } catch (error) {
    process.exitCode = 1;
    stop();
    throw error;
  }
};
