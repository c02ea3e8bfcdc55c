import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { watchHealth } from '../../test/support/health.ts';
import { watchMemory } from '../../test/support/memory.ts';
import { fillLog } from '../support/alert-log.ts';
import type { Finding } from '../support/finding.ts';
import { ask, createPost, type LoadRequest } from '../support/requests.ts';
import { measureP99, toTimes } from '../support/rounds.ts';
import type { Measure, Row } from '../support/run.ts';
import { type Scope, startCompanion, startSignalbox, withScope } from '../support/server.ts';
import { newTask, writeSeed } from '../support/tasks.ts';
import { greedy, hostile, type start } from './attackers.ts';
import { measureNotifications } from './notifications.ts';

/** Lists of 9 and 12 MB: more than the socket buffers hold for a client that does not read. */
const listed = 50_000;
const simpleTask = { title: 'Compare the checksums with those of the log. '.repeat(5) };
const alerts = 2_000_000;
/** Duration of each attack. */
const seconds = 10;
const row = { rounds: `${seconds} s` };

const attack = (scope: Scope, url: string, name: string) =>
  startCompanion<typeof start>(scope, 'stress/attackers', [url, name]);

/** Memory and health while clients without a token attack. */
const measureHostile: Measure = async ({ scope }) => {
  const dataDir = join(scope.folder, 'data');
  await fillLog(dataDir, alerts);
  const seed = join(scope.folder, 'seed.json');
  await writeSeed(seed, listed, { simpleTasks: Array.from({ length: listed }, () => simpleTask) });
  const findings: Finding[] = [];
  for (const [name, clients, does] of hostile) {
    process.stderr.write(`  ${clients} ${name} ...\n`);
    const { growth, slowest } = await withScope(scope.folder, async (own) => {
      const wrapper = name === 'idle' ? ['prlimit', '--nofile=1024'] : [];
      const { url, pid } = await startSignalbox(own, { flags: ['--seed', seed], dataDir, wrapper });
      const [readGrowth, watch, over] = [watchMemory(pid), watchHealth(url), setTimeout(seconds * 1000)];
      await attack(own, url, name);
      await over;
      return { growth: readGrowth(), slowest: await watch.stop() };
    });
    const work = `${clients} clients that ${does}: memory growth`;
    findings.push({ ...row, work, unit: ' MiB', ours: [growth], goal: '≤ 400 MiB' });
    findings.push({ ...row, work: 'slowest GET /health meanwhile', unit: ' ms', ours: [slowest], goal: '≤ 1000 ms' });
  }
  return findings;
};

const smallHeap = { NODE_OPTIONS: '--max-old-space-size=384' };
/** Milliseconds between the requests of the other address. */
const pause = 500;

/** What is left to another address while one takes all that it can get. */
const measureShares: Measure = async ({ scope }) => {
  const findings: Finding[] = [];
  for (const [name, clients, asked] of greedy) {
    process.stderr.write(`  ${name} ...\n`);
    const statuses: number[] = [];
    await withScope(scope.folder, async (own) => {
      // Large tasks need some time until a small heap is full.
      const isLarge = name === 'large tasks';
      const { url } = await startSignalbox(own, { variables: isLarge ? smallHeap : {} });
      await attack(own, url, name);
      await setTimeout(isLarge ? 20_000 : 2000);
      const end = performance.now() + seconds * 1000;
      for (; performance.now() < end; await setTimeout(pause)) statuses.push(await askOnce(url, asked));
    });
    const served = (100 * statuses.filter((status) => status >= 200 && status < 300).length) / statuses.length;
    const requests = `${statuses.length} × ${asked.method ?? 'GET'} ${asked.url}`;
    const work = `${clients} × ${name}: requests of another address that succeed (${requests})`;
    findings.push({ ...row, work, unit: ' %', ours: [served], goal: '≥ 99 %' });
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

/** A task update with 16 KiB of nested lists that are ignored: it costs much more to process than to send or read. */
const depth = 8000;
const costly = `{"Title":"x","filling":${'['.repeat(depth)}${']'.repeat(depth)}}`;
/** Enough connections, each asking again at once, that the server is the one that refuses. */
const connections = 3000;
const overloadSeconds = 30;

/** Far more work than the server can do: what it still does, and whether it is as quick as before afterwards. */
const overload: Measure = async ({ scope, load }) => {
  const server = await startSignalbox(scope, { flags: ['--max-connections', '6000'] });
  await ask(createPost(`${server.url}/api/tasks`, newTask));
  const url = `${server.url}/api/tasks/1`;
  const update = { ...createPost(url, {}), method: 'PUT', body: costly, isRefused: 'some' } as const;
  await load(update, 5);
  const before = await measureP99({ url });
  const peak = await load(update, 10);
  const { perSecond } = await load({ ...update, connections }, overloadSeconds);
  const after = await measureP99({ url });
  const work = `PUT on ${connections} connections, those that succeed`;
  const rates = { unit: '/s', ours: [perSecond], theirs: [peak.perSecond], rounds: `${overloadSeconds} s` };
  const later = { work: 'p99 of GET /api/tasks/{id} right after it', name: 'before', goal: '≤ 2 ×' };
  return [
    { work, ...rates, name: 'on 64', goal: '≥ 0.9 ×' },
    { ...later, ...toTimes([after], [before]) },
  ];
};

export const stressRows: readonly Row[] = [
  ['overload', overload],
  ['hostile', measureHostile],
  ['shares', measureShares],
  ['notifications', measureNotifications],
];
