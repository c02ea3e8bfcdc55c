import { join } from 'node:path';
import { fillLog } from '../support/fill-log.ts';
import type { Finding } from '../support/finding.ts';
import { requireSpace } from '../support/folder.ts';
import { compareRates, type Side, takeTurns } from '../support/rounds.ts';
import { createScope } from '../support/scope.ts';
import { startSignalbox } from '../support/signalbox.ts';
import type { Bench, Row } from './row.ts';

const few = 100;
const many = { usual: 1_000_000, full: 10_000_000 };
/** An upper bound for the size of a record of `fillLog`. */
const bytesPerRecord = 500;

interface Logs {
  long: string;
  short: string;
}

/** Listing and startup with a long alert log and with a short one. */
export const longLog: Row = {
  id: 'B6',
  measure: async (bench) => {
    const records = bench.isFull ? many.full : many.usual;
    await requireSpace(bench.scope.folder, records * bytesPerRecord);
    const logs = { long: join(bench.scope.folder, 'long'), short: join(bench.scope.folder, 'short') };
    await fillLog(logs.long, records);
    await fillLog(logs.short, few);
    const size = `${records.toLocaleString('en')} records${bench.isFull ? '' : ' (--full: 10,000,000)'}`;
    return [await compareStarts(bench, logs, size), await compareLists(bench, logs, size)];
  },
};

const startWith = ({ scope, cores }: Pick<Bench, 'scope' | 'cores'>, dataDir: string) =>
  startSignalbox(scope, cores, { dataDir });

const compareStarts = async (bench: Bench, logs: Logs, size: string): Promise<Finding> => {
  const sides = [logs.long, logs.short].map((folder) => async () => {
    const scope = createScope(bench.scope.folder);
    const { startMs } = await startWith({ ...bench, scope }, folder);
    await scope.end();
    return startMs;
  });
  // The first start reads the files into the page cache.
  await takeTurns(1, sides);
  const [ours = [], figures = []] = await takeTurns(bench.rounds, sides);
  return {
    id: 'B6',
    work: `start to first response at ${size}`,
    unit: ' ms',
    ours,
    beside: { name: `itself at ${few}`, figures },
    goals: [{ of: 'ratio', atMost: 1.2 }],
  };
};

const compareLists = async (bench: Bench, logs: Logs, size: string): Promise<Finding> => {
  const start = async (folder: string): Promise<Side> => {
    const server = await startWith(bench, folder);
    return { server, request: { url: `${server.url}/api/alerts` } };
  };
  const { figures, ...measured } = await compareRates(bench, await start(logs.long), await start(logs.short));
  return {
    id: 'B6',
    work: `GET /api/alerts at ${size}`,
    unit: '/s',
    ...measured,
    beside: { name: `itself at ${few}`, figures },
    goals: [{ of: 'ratio', atLeast: 0.95 }],
  };
};
