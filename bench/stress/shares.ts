import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import type { Finding } from '../support/finding.ts';
import type { LoadRequest } from '../support/requests.ts';
import type { Measure } from '../support/run.ts';
import { startCompanion, startSignalbox, withScope } from '../support/server.ts';
import { greedy, type start } from './attackers.ts';

/** Duration of each attack. */
const seconds = 10;
const smallHeap = { NODE_OPTIONS: '--max-old-space-size=384' };
/** Milliseconds between the requests of the other address. */
const pause = 500;

/** What is left to another address while one takes all that it can get. */
export const measureShares: Measure = async ({ scope }) => {
  const findings: Finding[] = [];
  for (const [name, clients, asked] of greedy) {
    process.stderr.write(`  ${name} ...\n`);
    const statuses: number[] = [];
    await withScope(scope.folder, async (own) => {
      // Large tasks need some time until a small heap is full.
      const isLarge = name === 'large tasks';
      const { url } = await startSignalbox(own, { variables: isLarge ? smallHeap : {} });
      await startCompanion<typeof start>(own, 'stress/attackers', [url, name]);
      await setTimeout(isLarge ? 20_000 : 2000);
      const end = performance.now() + seconds * 1000;
      for (; performance.now() < end; await setTimeout(pause)) statuses.push(await askOnce(url, asked));
    });
    const served = (100 * statuses.filter((status) => status >= 200 && status < 300).length) / statuses.length;
    const requests = `${statuses.length} × ${asked.method ?? 'GET'} ${asked.url}`;
    const work = `${clients} × ${name}: requests of another address that succeed (${requests})`;
    findings.push({ work, rounds: `${seconds} s`, unit: ' %', ours: [served], goal: '≥ 99 %' });
  }
  return findings;
};

/** The status of a request on a new connection, which is closed then; 0 without a response. */
const askOnce = async (base: string, { url, body, ...options }: LoadRequest): Promise<number> => {
  const agent = new Agent({ localAddress: '127.0.0.2' });
  const sent = request(`${base}${url}`, { ...options, agent, signal: AbortSignal.timeout(5000) });
  sent.on('error', () => undefined).end(body);
  const [response]: IncomingMessage[] = await once(sent, 'response').catch(() => []);
  sent.destroy();
  return response?.statusCode ?? 0;
};
