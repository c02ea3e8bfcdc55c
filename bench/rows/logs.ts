import { join } from 'node:path';
import { fillLog, shareLog, toStart } from '../support/alert-log.ts';
import { type Finding, toSides } from '../support/finding.ts';
import { compareRates, createSide, takeTurns } from '../support/rounds.ts';
import type { Bench, Measure } from '../support/run.ts';
import { type Server, startSearchable, withScope } from '../support/server.ts';

const few = 100;
const many = 10_000_000;
const alertsPerDay = 86_400;

type Target = [server: Server, path: string];

const compare = async (bench: Bench, ours: Target, theirs: Target, connections = 64) => {
  const toSide = ([{ pid, url }, path]: Target) => createSide(bench, [pid], { url: `${url}${path}`, connections });
  return compareRates(bench, await toSide(ours), await toSide(theirs));
};

/**
 * Measures long logs, and compares them with a short log: the time until they are searchable, and the time to list
 * them.
 */
export const longLogs: Measure = async (bench) => {
  const short = join(bench.scope.folder, 'short');
  await fillLog(short, few);
  return [...(await measureLog(bench, 1_000_000, short)), ...(await measureLog(bench, many, short))];
};

const measureLog = async (bench: Bench, records: number, short: string): Promise<Finding[]> => {
  const { rounds, scope, folder } = bench;
  const long = await shareLog(folder, records);
  const measureStart = (dataDir: string) => () => withScope(scope.folder, (own) => startSearchable(own, { dataDir }));
  const first = await measureStart(long)();
  const starts = await takeTurns(rounds, [measureStart(long), measureStart(short)]);
  const rates = await withScope(scope.folder, async (own) => {
    const one = await startSearchable(own, { dataDir: long });
    return compare(bench, [one, '/api/alerts'], [await startSearchable(own, { dataDir: short }), '/api/alerts']);
  });
  const size = `${records.toLocaleString('en')} records`;
  const start = { work: `start until ${size} can be searched`, unit: ' s', name: `itself at ${few}` };
  const later = toSides(starts, ({ seconds }) => seconds);
  return [
    { ...start, work: `${start.work}, the first time`, ours: [first.seconds], bytes: [first.bytes], rounds: '1 start' },
    { ...start, ...later, rounds: `${rounds} starts`, goal: '≤ 1.2 ×' },
    { work: `GET /api/alerts at ${size}`, name: start.name, ...rates, goal: '≥ 0.95 ×' },
  ];
};

/**
 * Starts a server on the long log, and another on a log of only one of its days. That day begins with this record. Also
 * returns the query for that day.
 */
const startLogs = async ({ scope, folder }: Bench, first: number) => {
  const startedAt = toStart(many);
  const directory = join(scope.folder, 'day');
  await fillLog(directory, alertsPerDay, { first, startedAt });
  const long = await startSearchable(scope, { dataDir: await shareLog(folder, many) });
  const day = await startSearchable(scope, { dataDir: directory });
  const [since, until] = [first, first + alertsPerDay].map((seq) => new Date(startedAt + seq * 1000).toISOString());
  return { long, day, range: `since=${since}&until=${until}` };
};

/**
 * Measures searches within a day in the middle of a long log. One search is for a string that no alert contains, so
 * that all alerts are read. The other search is for the last alerts.
 */
export const searchDay: Measure = async (bench) => {
  const { long, day, range } = await startLogs(bench, many / 2);
  const longer = { ...bench, seconds: 2 * bench.seconds };
  const search = (query: string, connections: number) => {
    const path = `/api/alerts/search?${range}&${query}`;
    return compare(longer, [long, path], [day, path], connections);
  };
  const toWork = (text: string) => `search for ${text} of one day of 10,000,000`;
  const [text, last] = [await search('q=no+such+text', 1), await search('limit=50', 8)];
  const name = 'that day alone';
  return [
    { work: toWork('a text in all messages'), name, ...text, goal: '≥ 0.95 ×' },
    { work: toWork('the last 50 alerts'), name, ...last },
  ];
};

/**
 * Measures the histogram of the last 24 hours of a long log. Compares it with listing the last 50 alerts, and with a
 * log of only these hours.
 */
export const histogram: Measure = async (bench) => {
  const { long, day } = await startLogs(bench, many - alertsPerDay + 1);
  const path = '/api/alerts/histogram?buckets=96';
  const work = 'histogram of 24 hours at 10,000,000 alerts';
  const list = await compare(bench, [long, path], [long, '/api/alerts?count=50']);
  const alone = await compare(bench, [long, path], [day, path]);
  return [
    { work, name: 'a list of 50 alerts', ...list, goal: '≥ 0.8 ×' },
    { work, name: 'these 24 hours alone', ...alone, goal: '≥ 0.9 ×' },
  ];
};
