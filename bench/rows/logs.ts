import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fillLog, type Logs } from '../support/fill-log.ts';
import type { Finding } from '../support/finding.ts';
import { compareRates, type Side, takeTurns } from '../support/rounds.ts';
import { type Scope, withScope } from '../support/scope.ts';
import type { Server } from '../support/server.ts';
import { startSignalbox } from '../support/signalbox.ts';
import type { Bench, Row } from './row.ts';

const sizes = [1_000_000, 10_000_000];
const many = 10_000_000;
const few = 100;
/** Rounds of starts, which take seconds, and of searches that read a whole day. */
const slowRounds = 4;
const alertsPerDay = 86_400;
const dayMs = alertsPerDay * 1000;
const pollMs = 10;

/** Starts signalbox on a log; resolves, once all of it can be searched, also to the seconds that this took. */
const startSearchable = async ({ scope, cores }: Pick<Bench, 'scope' | 'cores'>, dataDir: string) => {
  const began = performance.now();
  const server = await startSignalbox(scope, cores, { dataDir });
  const url = `${server.url}/api/alerts/histogram?since=1970-01-01T00:00:00Z`;
  while (!((await (await fetch(url)).json()) as { complete: boolean }).complete) await setTimeout(pollMs);
  return { server, seconds: (performance.now() - began) / 1000 };
};

const measureStart = ({ cores }: Bench, parent: Scope, dataDir: string): Promise<number> =>
  withScope(parent.folder, async (scope) => (await startSearchable({ scope, cores }, dataDir)).seconds);

const toSide = ({ pid, url }: Server, path: string): Side => ({ pids: [pid], request: { url: `${url}${path}` } });

/** Long logs and short ones: until they can be searched, and listing them. */
const longLogs: Row = {
  ids: ['B6'],
  measure: async (bench) => {
    const findings: Finding[] = [];
    const short = join(bench.scope.folder, 'short');
    await fillLog(short, few);
    for (const records of sizes) findings.push(...(await measureLog(bench, records, short)));
    return findings;
  },
};

const measureLog = async (bench: Bench, records: number, short: string): Promise<Finding[]> => {
  const { scope } = bench;
  const long = await bench.logs.get(records);
  const size = `${records.toLocaleString('en')} records`;
  const name = `itself at ${few}`;
  const start = { id: 'B6', unit: ' s' };
  const first = await measureStart(bench, scope, long);
  const sides = [long, short].map((folder) => () => measureStart(bench, scope, folder));
  const [ours = [], figures = []] = await takeTurns(slowRounds, sides);
  const { figures: others, ...listed } = await withScope(scope.folder, async (own) => {
    const servers = [];
    for (const folder of [long, short]) servers.push((await startSearchable({ ...bench, scope: own }, folder)).server);
    const [one, other] = servers.map((server) => toSide(server, '/api/alerts'));
    if (!one || !other) throw new Error('no servers');
    return compareRates(bench, one, other);
  });
  return [
    {
      ...start,
      work: `start until ${size} can be searched, the first time`,
      ours: [first],
      rounds: '1 start',
      goals: [],
    },
    {
      ...start,
      work: `start until ${size} can be searched, later`,
      ours,
      beside: { name, figures },
      rounds: `${slowRounds} starts`,
      goals: [{ of: 'ratio', atMost: 1.2 }],
    },
    {
      id: 'B6',
      work: `GET /api/alerts at ${size}`,
      unit: '/s',
      ...listed,
      beside: { name, figures: others },
      goals: [{ of: 'ratio', atLeast: 0.95 }],
    },
  ];
};

/** The long log, and one of a single day of it that begins with this record. */
const startLogs = async (bench: Bench, first: number): Promise<{ long: Server; day: Server; range: string }> => {
  const logs: Logs = bench.logs;
  const startedAt = logs.startedAt(many);
  const folder = join(bench.scope.folder, 'day');
  await fillLog(folder, alertsPerDay, { first, startedAt });
  const { server: long } = await startSearchable(bench, await logs.get(many));
  const { server: day } = await startSearchable(bench, folder);
  const since = startedAt + first * 1000;
  return { long, day, range: `since=${new Date(since).toISOString()}&until=${new Date(since + dayMs).toISOString()}` };
};

/** Searching a day in the middle of a long log: a text that no alert has, so all are read, and the last alerts. */
const searchDay: Row = {
  ids: ['B12'],
  measure: async (bench) => {
    const { long, day, range } = await startLogs(bench, many / 2);
    const searches = [
      {
        text: 'a text in all messages',
        query: 'q=no+such+text',
        connections: 1,
        goals: [{ of: 'ratio' as const, atLeast: 0.95 }],
      },
      { text: 'the last 50 alerts', query: 'limit=50', connections: 8, goals: [] },
    ];
    const findings: Finding[] = [];
    for (const { text, query, connections, goals } of searches) {
      const toSearch = ({ pid, url }: Server): Side => ({
        pids: [pid],
        request: { url: `${url}/api/alerts/search?${range}&${query}`, connections },
      });
      const longer = { ...bench, seconds: 2 * bench.seconds };
      const { figures, ...measured } = await compareRates(longer, toSearch(long), toSearch(day));
      const work = `search for ${text} of one day of 10,000,000`;
      findings.push({ id: 'B12', work, unit: '/s', ...measured, beside: { name: 'that day alone', figures }, goals });
    }
    return findings;
  },
};

/** The histogram of the last 24 hours of a long log, beside its last 50 alerts, and a log of these hours alone. */
const histogram: Row = {
  ids: ['B13'],
  measure: async (bench) => {
    const { long, day } = await startLogs(bench, many - alertsPerDay + 1);
    const path = '/api/alerts/histogram?buckets=96';
    const compare = async (name: string, other: Side, atLeast: number): Promise<Finding> => {
      const { figures, ...measured } = await compareRates(bench, toSide(long, path), other);
      const work = 'histogram of 24 hours at 10,000,000 alerts';
      return { id: 'B13', work, unit: '/s', ...measured, beside: { name, figures }, goals: [{ of: 'ratio', atLeast }] };
    };
    return [
      await compare('a list of 50 alerts', toSide(long, '/api/alerts?limit=50'), 0.8),
      await compare('these 24 hours alone', toSide(day, path), 0.9),
    ];
  },
};

export const logRows: readonly Row[] = [longLogs, searchDay, histogram];
