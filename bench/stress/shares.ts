import { Agent, request } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { password } from '../support/ask.ts';
import type { Cores } from '../support/cores.ts';
import { median } from '../support/figures.ts';
import type { Finding } from '../support/finding.ts';
import { type Scope, withScope } from '../support/scope.ts';
import { startCompanion } from '../support/server.ts';
import { startSignalbox } from '../support/signalbox.ts';
import type { AttackOrder } from './attackers.ts';

interface Share extends Omit<AttackOrder, 'url'> {
  work: string;
  /** What another address asks meanwhile. */
  ask: { method: string; path: string; body?: object };
  variables?: Record<string, string>;
  /** Seconds that the attack lasts before others ask. */
  leadSeconds?: number;
  /** Milliseconds between the requests of the other address. */
  pause?: number;
}

const shares: readonly Share[] = [
  {
    name: 'keep-alive',
    clients: 1100,
    work: '1,100 connections with a request every four seconds',
    ask: { method: 'POST', path: '/api/alert', body: { message: 'x' } },
  },
  {
    name: 'dripped bodies',
    clients: 64,
    work: '64 bodies of 1 MiB without their last bytes',
    ask: { method: 'POST', path: '/api/tasks', body: { Title: 'x', Description: 'x'.repeat(20_000) } },
  },
  {
    name: 'streams',
    clients: 200,
    work: '200 event streams',
    ask: { method: 'GET', path: '/api/events?topics=tasks' },
  },
  {
    name: 'guesses',
    clients: 50,
    work: '50 connections that log in with wrong passwords as fast as they are answered',
    ask: { method: 'POST', path: '/api/auth/login', body: { Username: 'admin', Password: password } },
    pause: 1000,
  },
  {
    name: 'large tasks',
    clients: 4,
    work: '4 clients that post tasks of 900 KB to a heap of 384 MB',
    ask: { method: 'GET', path: '/api/tasks?limit=1' },
    leadSeconds: 20,
    variables: { NODE_OPTIONS: '--max-old-space-size=384' },
  },
];

const elsewhere = '127.0.0.2';
/** Seconds for which the other address asks. */
const seconds = 10;

/** What is left to another address while one takes all that it can get. */
export const measureShares = async (scope: Scope, cores: Cores | undefined): Promise<Finding[]> => {
  const findings: Finding[] = [];
  for (const share of shares) {
    process.stderr.write(`  ${share.name} ...\n`);
    findings.push(await withScope(scope.folder, (own) => measureShare(own, cores, share)));
  }
  return findings;
};

const measureShare = async (scope: Scope, cores: Cores | undefined, share: Share): Promise<Finding> => {
  const { name, clients, work, ask, variables = {}, leadSeconds = 2, pause = 200 } = share;
  const { url } = await startSignalbox(scope, cores, { variables });
  await startCompanion(scope, cores, 'stress/attackers', { url, name, clients } satisfies AttackOrder).read();
  await setTimeout(leadSeconds * 1000);
  const statuses: number[] = [];
  const times: number[] = [];
  for (const end = performance.now() + seconds * 1000; performance.now() < end; await setTimeout(pause)) {
    const began = performance.now();
    statuses.push(await askOnce(url, ask));
    times.push(performance.now() - began);
  }
  const served = statuses.filter((status) => status >= 200 && status < 300).length;
  const asked = `${ask.method} ${ask.path}, ${statuses.length} on new connections, median ${median(times).toFixed(0)} ms`;
  return {
    id: 'shares',
    work: `${work}: requests of another address that succeed (${asked})`,
    unit: ' %',
    ours: [(served / statuses.length) * 100],
    rounds: `${seconds} s`,
    goals: [{ of: 'value', atLeast: 99 }],
  };
};

/** The status of a request on a new connection, which is closed then; 0 without a response. */
const askOnce = (url: string, { method, path, body }: Share['ask']): Promise<number> =>
  new Promise((resolve) => {
    const agent = new Agent({ localAddress: elsewhere });
    const sent = request(`${url}${path}`, { method, agent, timeout: 5000 }, ({ statusCode = 0 }) => {
      resolve(statusCode);
      sent.destroy();
    });
    sent.on('timeout', () => sent.destroy());
    sent.on('error', () => resolve(0));
    sent.on('close', () => resolve(0));
    sent.end(body && JSON.stringify(body));
  });
