import { mkdtemp, rm } from 'node:fs/promises';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { startServer } from '../test/faults/support/server.ts';
import { quantile, toTable } from './support/figures.ts';
import { send } from './support/http.ts';

/**
 * Latency of alerts while 50 users log in repeatedly: password hashing and file syncs share one thread pool. `node
 * dist/bench/login-load.js [FOLDER]`; the folder must be on a disk, not in memory.
 */
const logins = 50;
const phaseMs = 8000;

/** With limits, nearly all logins would be refused unchecked. */
const noLimits = {
  SIGNALBOX_LOGIN_TRIES_PER_ADDRESS: '0',
  SIGNALBOX_LOGIN_TRIES_PER_USER: '0',
  SIGNALBOX_LOGIN_TRIES_IN_TOTAL: '0',
};

const [, , parent = '.'] = process.argv;

const run = async (folder: string): Promise<void> => {
  const flags = ['--profiles', 'alerts,login'];
  const variables = { ...pickPoolSize(), ...noLimits, SIGNALBOX_ADMIN_PASSWORD: 'correct horse' };
  const server = await startServer({ dataDir: join(folder, 'data'), flags, variables });
  if (!server) throw new Error('the server did not start');
  const idle = await measureAlerts(server.url);
  const statuses = new Map<number, number>();
  const crowd = keepLoggingIn(server.url, statuses);
  const busy = await measureAlerts(server.url);
  crowd.stop();
  await crowd.ended;
  server.child.kill('SIGTERM');
  await server.ended;
  const rows = [toRow('no logins', idle), toRow(`${logins} log in at once`, busy)];
  process.stdout.write(toTable(['', 'alerts', 'median ms', 'p99 ms', 'slowest ms'], rows));
  process.stdout.write(`logins: ${[...statuses].map(([status, count]) => `${count} × ${status}`).join(', ')}\n`);
};

const pickPoolSize = (): Record<string, string> => {
  const size = process.env['UV_THREADPOOL_SIZE'];
  return size === undefined ? {} : { UV_THREADPOOL_SIZE: size };
};

const measureAlerts = async (url: string): Promise<number[]> => {
  const agent = new Agent({ keepAlive: true });
  const times: number[] = [];
  for (const end = performance.now() + phaseMs; performance.now() < end; ) {
    const answer = await send(`${url}/api/alert`, { agent, body: { message: 'measured' } });
    if (answer?.status !== 200) throw new Error(`an alert was answered ${answer?.status}`);
    times.push(answer.ms);
  }
  agent.destroy();
  return times;
};

const keepLoggingIn = (url: string, statuses: Map<number, number>) => {
  const agent = new Agent({ keepAlive: true });
  const body = { Username: 'admin', Password: 'wrong' };
  let isStopped = false;
  const logIn = async (): Promise<void> => {
    const answer = await send(`${url}/api/auth/login`, { agent, body });
    const status = answer?.status ?? 0;
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  };
  const run = async (): Promise<void> => {
    while (!isStopped) await Promise.all(Array.from({ length: logins }, logIn));
    agent.destroy();
  };
  return {
    ended: run(),
    stop: () => {
      isStopped = true;
    },
  };
};

const toRow = (name: string, times: number[]): string[] => [
  name,
  String(times.length),
  ...[0.5, 0.99, 1].map((share) => quantile(times, share).toFixed(1)),
];

const folder = await mkdtemp(join(parent, 'login-load-'));
await run(folder).finally(() => rm(folder, { recursive: true, force: true }));
