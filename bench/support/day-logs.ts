import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Bench } from '../rows/row.ts';
import { fillLog } from './fill-log.ts';
import { requireSpace } from './folder.ts';
import type { Server } from './server.ts';
import { startSignalbox } from './signalbox.ts';

const usual = 1_000_000;
const full = 10_000_000;
/** One in each second. */
const alertsPerDay = 86_400;
const dayMs = 24 * 60 * 60 * 1000;
/** More than a record of `fillLog` takes. */
const bytesPerRecord = 500;
const pollMs = 100;

/** Folders of a long log of alerts that ends now, and of a log of one of its days. */
export interface DayLogs {
  long: string;
  day: string;
  /** The day; Unix milliseconds. */
  since: number;
  until: number;
  /** How many alerts the long log has, in words. */
  size: string;
}

/** Writes both logs; the day is the last 24 hours, or as long in the middle. */
export const createDayLogs = async ({ scope, isFull }: Bench, which: 'middle' | 'last'): Promise<DayLogs> => {
  const records = isFull ? full : usual;
  await requireSpace(scope.folder, records * bytesPerRecord);
  const logs = { long: join(scope.folder, 'long'), day: join(scope.folder, 'day') };
  const startedAt = Date.now() - records * 1000;
  const first = which === 'last' ? records - alertsPerDay + 1 : Math.floor(records / 2);
  await fillLog(logs.long, records, { first: 1, startedAt });
  await fillLog(logs.day, alertsPerDay, { first, startedAt });
  const since = startedAt + first * 1000;
  const size = `${records.toLocaleString('en')} alerts${isFull ? '' : ' (--full: 10,000,000)'}`;
  return { ...logs, since, until: since + dayMs, size };
};

/** Starts signalbox on a log, and waits until it is indexed, as it is when it was written by signalbox and searched before. */
export const startIndexed = async ({ scope, cores }: Bench, dataDir: string): Promise<Server> => {
  const server = await startSignalbox(scope, cores, { dataDir });
  const url = `${server.url}/api/alerts/histogram?since=1970-01-01T00:00:00Z`;
  const isComplete = async (): Promise<boolean> =>
    ((await (await fetch(url)).json()) as { complete: boolean }).complete;
  while (!(await isComplete())) await setTimeout(pollMs);
  return server;
};
