import { join } from 'node:path';
import { fillLog, type Searchable, shareLog, startSearchable, toStart } from '../support/alert-log.ts';
import { type Finding, toSides } from '../support/finding.ts';
import { compareRates, createSide, type Rates, takeTurns } from '../support/rounds.ts';
import type { Bench, Row } from '../support/run.ts';
import { withScope } from '../support/scope.ts';
import type { Server } from '../support/server.ts';

const sizes = [1_000_000, 10_000_000];
const many = 10_000_000;
const few = 100;
const alertsPerDay = 86_400;

type Target = [server: Server, path: string];

const compare = async (bench: Bench, ours: Target, theirs: Target, connections = 64): Promise<Rates> => {
  const toSide = ([{ pid, url }, path]: Target) => createSide(bench, [pid], { url: `${url}${path}`, connections });
  return compareRates(bench, await toSide(ours), await toSide(theirs));
};

/** A long log beside a short one: until it can be searched, and listing it. */
const measureLog = async (bench: Bench, records: number, short: string): Promise<Finding[]> => {
  const long = await shareLog(bench.folder, records);
  const size = `${records.toLocaleString('en')} records`;
  const measureStart = (folder: string) => (): Promise<Searchable> =>
    withScope(bench.scope.folder, (scope) => startSearchable(scope, { dataDir: folder }));
  const first = await measureStart(long)();
  const [ours = [], theirs = []] = await takeTurns(bench.rounds, [measureStart(long), measureStart(short)]);
  const rates = await withScope(bench.scope.folder, async (scope) => {
    const [one, two] = [
      await startSearchable(scope, { dataDir: long }),
      await startSearchable(scope, { dataDir: short }),
    ];
    return compare(bench, [one, '/api/alerts'], [two, '/api/alerts']);
  });
  const row = { id: 'B6', name: `itself at ${few}` };
  const start = { ...row, work: `start until ${size} can be searched`, unit: ' s' };
  const later = toSides(ours, theirs, ({ seconds }) => seconds);
  return [
    { ...start, work: `${start.work}, the first time`, ours: [first.seconds], bytes: [first.bytes], rounds: '1 start' },
    { ...start, ...later, rounds: `${bench.rounds} starts`, goal: '≤ 1.2 ×' },
    { ...row, work: `GET /api/alerts at ${size}`, ...rates, goal: '≥ 0.95 ×' },
  ];
};

const longLogs: Row = {
  id: 'B6',
  measure: async (bench) => {
    const short = join(bench.scope.folder, 'short');
    await fillLog(short, few);
    const findings: Finding[] = [];
    for (const records of sizes) findings.push(...(await measureLog(bench, records, short)));
    return findings;
  },
};

/** The long log, one of a single day of it that begins with this record, and the query for that day. */
const startLogs = async (
  { scope, folder }: Bench,
  first: number,
): Promise<{ long: Server; day: Server; range: string }> => {
  const startedAt = toStart(many);
  const directory = join(scope.folder, 'day');
  await fillLog(directory, alertsPerDay, { first, startedAt });
  const long = await startSearchable(scope, { dataDir: await shareLog(folder, many) });
  const day = await startSearchable(scope, { dataDir: directory });
  const [since, until] = [first, first + alertsPerDay].map((seq) => new Date(startedAt + seq * 1000).toISOString());
  return { long, day, range: `since=${since}&until=${until}` };
};

/** Searching a day in the middle of a long log: a text that no alert has, so all are read, and the last alerts. */
const searchDay: Row = {
  id: 'B12',
  measure: async (bench) => {
    const { long, day, range } = await startLogs(bench, many / 2);
    const search = async (text: string, query: string, connections: number, goal?: string): Promise<Finding> => {
      const path = `/api/alerts/search?${range}&${query}`;
      const longer = { ...bench, seconds: 2 * bench.seconds };
      const work = `search for ${text} of one day of 10,000,000`;
      return {
        id: 'B12',
        work,
        name: 'that day alone',
        goal,
        ...(await compare(longer, [long, path], [day, path], connections)),
      };
    };
    return [
      await search('a text in all messages', 'q=no+such+text', 1, '≥ 0.95 ×'),
      await search('the last 50 alerts', 'limit=50', 8),
    ];
  },
};

/** The histogram of the last 24 hours of a long log, beside its last 50 alerts, and a log of these hours alone. */
const histogram: Row = {
  id: 'B13',
  measure: async (bench) => {
    const { long, day } = await startLogs(bench, many - alertsPerDay + 1);
    const path = '/api/alerts/histogram?buckets=96';
    const draw = async (name: string, other: Target, goal: string): Promise<Finding> => {
      const work = 'histogram of 24 hours at 10,000,000 alerts';
      return { id: 'B13', work, name, goal, ...(await compare(bench, [long, path], other)) };
    };
    return [
      await draw('a list of 50 alerts', [long, '/api/alerts?count=50'], '≥ 0.8 ×'),
      await draw('these 24 hours alone', [day, path], '≥ 0.9 ×'),
    ];
  },
};

export const logRows: readonly Row[] = [longLogs, searchDay, histogram];
