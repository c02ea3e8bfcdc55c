import { mkdtemp, rm } from 'node:fs/promises';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { startServer } from '../test/faults/support/server.ts';
import { quantile, toTable } from './support/figures.ts';
import { send } from './support/http.ts';

/**
 * Latency of alerts, and of a correct login from another address, while 50 connections from one address log in with
 * wrong passwords: first with login limits, then without. Password hashing and file syncs share one thread pool. `node
 * dist/bench/login-guessing.js [FOLDER]`; the folder must be on a disk, not in memory.
 */
const logins = 50;
const phaseMs = 8000;

const noLimits = {
  SIGNALBOX_LOGIN_TRIES_PER_ADDRESS: '0',
  SIGNALBOX_LOGIN_TRIES_PER_USER: '0',
  SIGNALBOX_LOGIN_TRIES_IN_TOTAL: '0',
};

const [, , parent = '.'] = process.argv;

const run = async (folder: string): Promise<void> => {
  const rows: string[][] = [];
  for (const [name, crowd, variables] of [
    ['no other load', 0, {}],
    [`${logins} guess, limited`, logins, {}],
    [`${logins} guess, without limits`, logins, noLimits],
  ] as const) {
    rows.push(...(await measurePhase(join(folder, name.replaceAll(/\W+/g, '-')), name, crowd, variables)));
  }
  process.stdout.write(toTable(['', 'what', 'times', 'median ms', 'p99 ms', 'slowest ms', 'wrong logins'], rows));
};

const measurePhase = async (
  folder: string,
  name: string,
  size: number,
  limits: Record<string, string>,
): Promise<string[][]> => {
  const flags = ['--profiles', 'alerts,login'];
  const variables = { ...limits, SIGNALBOX_ADMIN_PASSWORD: 'correct horse' };
  const server = await startServer({ dataDir: folder, flags, variables });
  if (!server) throw new Error('the server did not start');
  const statuses = new Map<number, number>();
  const crowd = keepGuessing(server.url, size, statuses);
  const alerts = await measure(`${server.url}/api/alert`, { message: 'measured' }, [200]);
  const rightLogin = { Username: 'admin', Password: 'correct horse' };
  const right = await measure(`${server.url}/api/auth/login`, rightLogin, [200, 503]);
  crowd.stop();
  await crowd.ended;
  server.child.kill('SIGTERM');
  await server.ended;
  const counts = [...statuses].map(([status, count]) => `${count} × ${status}`).join(', ');
  return [toRow([name, 'alert'], alerts, counts), toRow(['', 'correct login'], right, '')];
};

/** Durations of requests sent one after the other from a different address. */
const measure = async (url: string, body: object, expected: readonly number[]): Promise<number[]> => {
  const agent = new Agent({ keepAlive: true, localAddress: '127.0.0.2' });
  const times: number[] = [];
  for (const end = performance.now() + phaseMs; performance.now() < end; ) {
    const answer = await send(url, { agent, body });
    if (!answer || !expected.includes(answer.status)) throw new Error(`${url} answered ${answer?.status}`);
    if (answer.status === expected[0]) times.push(answer.ms);
  }
  agent.destroy();
  return times;
};

const keepGuessing = (url: string, size: number, statuses: Map<number, number>) => {
  const agent = new Agent({ keepAlive: true });
  const body = { Username: 'admin', Password: 'wrong' };
  let isStopped = false;
  const guess = async (): Promise<void> => {
    while (!isStopped) {
      const status = (await send(`${url}/api/auth/login`, { agent, body }))?.status ?? 0;
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  return {
    ended: Promise.all(Array.from({ length: size }, guess)).then(() => agent.destroy()),
    stop: () => {
      isStopped = true;
    },
  };
};

const toRow = (names: string[], times: number[], counts: string): string[] => [
  ...names,
  String(times.length),
  ...[0.5, 0.99, 1].map((share) => quantile(times, share).toFixed(1)),
  counts,
];

const folder = await mkdtemp(join(parent, 'login-guessing-'));
await run(folder).finally(() => rm(folder, { recursive: true, force: true }));
