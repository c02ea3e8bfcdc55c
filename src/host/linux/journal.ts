import type { JournalReading } from '../readings.ts';
import { readSystemdOutput } from './child.ts';

const paths = ['/usr/bin/journalctl', '/bin/journalctl'];

/** Entries may be long, but without `--all` each field has 4096 bytes at most. */
const limits = { ms: 2000, bytes: 4 * 1024 * 1024 };

/** No other fields: among them are command lines. */
const fields = ['MESSAGE', 'PRIORITY', 'SYSLOG_IDENTIFIER', '_COMM', '_TRANSPORT'];

/** Reads `HostReadings.journalEntries`. */
export const readJournalEntries = async (count: number): Promise<JournalReading[] | null> => {
  const format = ['--output=json', `--output-fields=${fields.join(',')}`];
  const args = ['--system', `--lines=${count}`, ...format, '--no-pager', '--quiet'];
  const output = await readSystemdOutput(paths, args, limits);
  return output === null ? null : parseJournal(output);
};

/** Entries in the output of `journalctl --output=json`, one a line; what is no entry is left out. */
export const parseJournal = (output: string): JournalReading[] =>
  output.split('\n').flatMap((line) => {
    const entry = parseEntry(line);
    const at = Number(entry?.['__REALTIME_TIMESTAMP']) / 1000;
    if (!entry || !Number.isFinite(at)) return [];
    const priority = Number.parseInt(toText(entry['PRIORITY']), 10);
    return {
      at: new Date(at),
      source: toText(entry['SYSLOG_IDENTIFIER']) || toText(entry['_COMM']) || toText(entry['_TRANSPORT']),
      transport: toText(entry['_TRANSPORT']),
      priority: Number.isNaN(priority) ? null : priority,
      text: toText(entry['MESSAGE']),
    };
  });

const parseEntry = (line: string): Record<string, unknown> | undefined => {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
};

/** A value is a text, or an array of bytes where it is not printable; null where it is too long. Of several the first counts. */
const toText = (value: unknown): string => {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return '';
  return typeof value[0] === 'number' ? Buffer.from(value).toString() : toText(value[0]);
};
