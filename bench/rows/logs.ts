import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { ask } from '../support/ask.ts';
import { fillLog } from '../support/fill-log.ts';
import type { Finding } from '../support/finding.ts';
import { compareRates, type Side, takeTurns } from '../support/rounds.ts';
import { withScope } from '../support/scope.ts';
import type { Server } from '../support/server.ts';
import { startSignalbox } from '../support/signalbox.ts';
import type { Bench, Row } from './row.ts';

const sizes = [1_000_000, 10_000_000];
const many = 10_000_000;
const few = 100;
/** Rounds of starts, which take seconds. */
const starts = 4;
const alertsPerDay = 86_400;
const pollMs = 10;

/** Starts signalbox on a log; resolves, once all of it can be searched, also to the seconds that this took. */
const startSearchable = async ({ scope, cores }: Bench, dataDir: string): Promise<Server & { seconds: number }> => {
  const began = performance.now();
  const server = await startSignalbox(scope, cores, { dataDir });
  const url = `${server.url}/api/alerts/histogram?since=1970-01-01T00:00:00Z`;
  while (!JSON.parse(await ask({ url })).complete) await setTimeout(pollMs);
  return { ...server, seconds: (performance.now() - began) / 1000 };
};

const toSide = ({ pid, url }: Server, path: string, connections = 64): Side => {
  return { pids: [pid], request: { url: `${url}${path}`, connections } };
};

/** A long log beside a short one: until it can be searched, and listing it. */
const measureLog = async (bench: Bench, records: number, short: string): Promise<Finding[]> => {
  const long = await bench.logs.get(records);
  const size = `${records.toLocaleString('en')} records`;
  const measureStart = (folder: string) => (): Promise<number> =>
    withScope(bench.scope.folder, async (scope) => (await startSearchable({ ...bench, scope }, folder)).seconds);
  const first = [await measureStart(long)()];
  const [ours = [], figures = []] = await takeTurns(starts, [measureStart(long), measureStart(short)]);
  const listed = await withScope(bench.scope.folder, async (scope) => {
    const [one, two] = [
      await startSearchable({ ...bench, scope }, long),
      await startSearchable({ ...bench, scope }, short),
    ];
    return compareRates(bench, toSide(one, '/api/alerts'), toSide(two, '/api/alerts'));
  });
  const name = `itself at ${few}`;
  const start = { id: 'B6', work: `start until ${size} can be searched`, unit: ' s' };
  const later = { ours, beside: { name, figures }, rounds: `${starts} starts` };
  const list = { id: 'B6', work: `GET /api/alerts at ${size}`, unit: '/s', ...listed };
  return [
    { ...start, work: `${start.work}, the first time`, ours: first, rounds: '1 start', goals: [] },
    { ...start, ...later, goals: [{ of: 'ratio', atMost: 1.2 }] },
    { ...list, beside: { name, figures: listed.figures }, goals: [{ of: 'ratio', atLeast: 0.95 }] },
  ];
};

const longLogs: Row = {
  ids: ['B6'],
  measure: async (bench) => {
    const short = join(bench.scope.folder, 'short');
    await fillLog(short, few);
    const findings: Finding[] = [];
    for (const records of sizes) findings.push(...(await measureLog(bench, records, short)));
    return findings;
  },
};

/** The long log, one of a single day of it that begins with this record, and the query for that day. */
const startLogs = async (bench: Bench, first: number): Promise<{ long: Server; day: Server; range: string }> => {
  const startedAt = bench.logs.startedAt(many);
  const folder = join(bench.scope.folder, 'day');
  await fillLog(folder, alertsPerDay, { first, startedAt });
  const long = await startSearchable(bench, await bench.logs.get(many));
  const day = await startSearchable(bench, folder);
  const [since, until] = [first, first + alertsPerDay].map((seq) => new Date(startedAt + seq * 1000).toISOString());
  return { long, day, range: `since=${since}&until=${until}` };
};

/** Searching a day in the middle of a long log: a text that no alert has, so all are read, and the last alerts. */
const searchDay: Row = {
  ids: ['B12'],
  measure: async (bench) => {
    const { long, day, range } = await startLogs(bench, many / 2);
    const compare = async (
      text: string,
      query: string,
      connections: number,
      goals: Finding['goals'],
    ): Promise<Finding> => {
      const path = `/api/alerts/search?${range}&${query}`;
      const longer = { ...bench, seconds: 2 * bench.seconds };
      const { figures, ...measured } = await compareRates(
        longer,
        toSide(long, path, connections),
        toSide(day, path, connections),
      );
      const work = `search for ${text} of one day of 10,000,000`;
      return { id: 'B12', work, unit: '/s', ...measured, beside: { name: 'that day alone', figures }, goals };
    };
    return [
      await compare('a text in all messages', 'q=no+such+text', 1, [{ of: 'ratio', atLeast: 0.95 }]),
      await compare('the last 50 alerts', 'limit=50', 8, []),
    ];
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
