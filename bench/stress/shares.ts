import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { startCompanion } from '../support/companion.ts';
import type { Cores } from '../support/cores.ts';
import type { Finding } from '../support/finding.ts';
import { createScope, type Scope } from '../support/scope.ts';
import { startSignalbox } from '../support/signalbox.ts';
import type { AttackOrder } from './attackers.ts';
import type { Part } from './part.ts';

interface Row extends Omit<AttackOrder, 'url'> {
  work: string;
  /** What another address asks meanwhile. */
  ask: { method: string; path: string; body?: object };
  variables?: Record<string, string>;
  /** Seconds that the attack lasts before others ask. */
  leadSeconds?: number;
}

const small = { message: 'x' };
const medium = { Title: 'x', Description: 'x'.repeat(20_000) };

const rows: readonly Row[] = [
  {
    name: 'keep-alive',
    clients: 1100,
    work: '1,100 connections with a request every four seconds',
    ask: { method: 'POST', path: '/api/alert', body: small },
  },
  {
    name: 'dripped bodies',
    clients: 64,
    work: '64 bodies of 1 MiB without their last bytes',
    ask: { method: 'POST', path: '/api/tasks', body: medium },
  },
  {
    name: 'streams',
    clients: 200,
    work: '200 event streams',
    ask: { method: 'GET', path: '/api/events?topics=tasks' },
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
/** Seconds for which others ask, and milliseconds between their requests. */
const seconds = 10;
const pause = 200;

/** What is left to another address while one takes all that it can get. */
export const shares: Part = {
  name: 'shares',
  measure: async (_scope, cores) => {
    const findings: Finding[] = [];
    for (const row of rows) {
      process.stderr.write(`  ${row.name} ...\n`);
      const own = createScope(tmpdir());
      try {
        findings.push(await measureRow(own, cores, row));
      } finally {
        await own.end();
      }
    }
    return findings;
  },
};

const measureRow = async (scope: Scope, cores: Cores | undefined, row: Row): Promise<Finding> => {
  const { name, clients, work, ask, variables = {}, leadSeconds = 2 } = row;
  const { url } = await startSignalbox(scope, cores, { variables });
  const order: AttackOrder = { url, name, clients };
  await startCompanion(scope, cores, 'attackers', order).read();
  await setTimeout(leadSeconds * 1000);
  const statuses: number[] = [];
  for (const end = performance.now() + seconds * 1000; performance.now() < end; await setTimeout(pause)) {
    statuses.push(await askOnce(url, ask));
  }
  const served = statuses.filter((status) => status >= 200 && status < 300).length;
  return {
    id: 'shares',
    work: `${work}: requests of another address that succeed (${ask.method} ${ask.path}, ${statuses.length} on new connections)`,
    unit: ' %',
    ours: [(served / statuses.length) * 100],
    goals: [{ of: 'value', atLeast: 99 }],
  };
};

/** The status of a request on a new connection, which is closed then; 0 without a response. */
const askOnce = (url: string, { method, path, body }: Row['ask']): Promise<number> =>
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
