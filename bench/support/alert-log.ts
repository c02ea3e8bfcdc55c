import { existsSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createAlert } from '../../src/features/alerts/alert.ts';
import { createFileNames } from '../../src/storage/journal/files.ts';
import { createId, toLineStart, toRecordLine } from '../../src/storage/journal/line.ts';
import { requireDisk } from './machine.ts';

export const alert = { source: 'backup', level: 'ERROR', message: 'the disk is full', hostname: 'web-1' };

const longAgo = 1_760_000_000_000;
/** Bytes per file, below signalbox's default segment size. */
const fileBytes = 63 * 1024 * 1024;
/** Bytes of a record, rounded up. */
const recordBytes = 500;

/**
 * Writes an alert log in signalbox's format that starts at the seq `first` and has one alert per second. `startedAt` is
 * the time of seq 0, in Unix milliseconds.
 */
export const fillLog = async (directory: string, records: number, { first = 1, startedAt = longAgo } = {}) => {
  await mkdir(directory, { recursive: true });
  requireDisk(directory, records * recordBytes);
  const names = createFileNames(directory, 'alerts');
  const end = first + records;
  let seq = first;
  for (let file = 1; seq < end; file += 1) {
    let text = '';
    for (; seq < end && text.length < fileBytes; seq += 1) text += createLine(seq, startedAt + seq * 1000);
    await writeFile(names.active, text, { mode: 0o600, flush: true });
    // The last file keeps the name without a number.
    if (seq < end) await rename(names.active, names.closed(file));
  }
};

const createLine = (seq: number, time: number): string => {
  const fields = {
    source: 'backup',
    level: seq % 3 === 0 ? 'ERROR' : 'INFO',
    message: `job ${seq} on volume ${seq % 97} ended: ${'copied and checked; '.repeat(8)}`,
    hostname: `web-${seq % 40}.example.org`,
  };
  const created = createAlert(fields, { now: new Date(time), sender: 'address:127.0.0.1' });
  return toRecordLine(toLineStart({ ...created }, createId(time)), seq);
};

const now = Date.now();

/** Returns the time one second before the first record in a shared log, in Unix milliseconds. */
export const toStart = (records: number): number => now - records * 1000;

/**
 * Returns the folder with a log of the last `records` seconds. The log is written on first use. Only one server may use
 * it.
 */
export const shareLog = async (folder: string, records: number): Promise<string> => {
  const directory = join(folder, `log-${records}`);
  if (existsSync(directory)) return directory;
  await fillLog(`${directory}.part`, records, { startedAt: toStart(records) });
  await rename(`${directory}.part`, directory);
  return directory;
};
