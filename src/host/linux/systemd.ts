import { execFile, spawnSync } from 'node:child_process';
import { isObject, parseJson } from '../../lib/parse-json.ts';
import { findProgram, isAccessible, systemPaths } from '../programs.ts';
import type { JournalReading, UnitReading } from '../readings.ts';

interface OutputLimits {
  ms: number;
  bytes: number;
}

/**
 * Returns the output of a systemd program. Null if the program is missing or systemd is not running. Rejects if the
 * program fails or takes too long.
 */
const readSystemdOutput = async (
  paths: readonly string[],
  args: readonly string[],
  { ms, bytes }: OutputLimits,
): Promise<string | null> => {
  const program = await findProgram(paths);
  if (program === null || !(await isAccessible(systemPaths.bootMark))) return null;
  return new Promise((resolve, reject) => {
    const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8' };
    const options = { timeout: ms, maxBuffer: bytes, killSignal: 'SIGKILL' as const, env };
    execFile(program, args, options, (error, stdout) => (error ? reject(error) : resolve(stdout)));
  });
};

const unitLimits = { ms: 10_000, bytes: 8 * 1024 * 1024 };

const listUnits = ['list-units', '--all', '--plain', '--no-legend', '--no-pager', '--full'];

/** Reads `HostReadings.units`. */
export const readLoadedUnits = async (): Promise<UnitReading[] | null> => {
  const output = await readSystemdOutput(systemPaths.systemctl, listUnits, unitLimits);
  return output === null ? null : parseUnits(output);
};

/** Parses the output of `systemctl list-units --plain --no-legend`. */
export const parseUnits = (output: string): UnitReading[] =>
  output.split('\n').flatMap((line) => {
    const [name, load, active, sub] = line
      .trim()
      .replace(/^[\u25cf*] /, '')
      .split(/ +/, 4);
    return name && load && active && sub ? [{ name, isLoaded: load !== 'not-found', active, sub }] : [];
  });

/** Limits of the output. Entries may be long, but without `--all`, each field has at most 4096 bytes. */
const journalLimits = { ms: 2000, bytes: 4 * 1024 * 1024 };

/** Fields to read. Other fields may contain command lines. */
const fields = ['MESSAGE', 'PRIORITY', 'SYSLOG_IDENTIFIER', '_COMM', '_TRANSPORT'];

/** Reads `HostReadings.journalEntries`. */
export const readJournalEntries = async (count: number): Promise<JournalReading[] | null> => {
  const format = ['--output=json', `--output-fields=${fields.join(',')}`];
  const args = ['--system', `--lines=${count}`, ...format, '--no-pager', '--quiet'];
  const output = await readSystemdOutput(systemPaths.journalctl, args, journalLimits);
  return output === null ? null : parseJournal(output);
};

/** Parses the output of `journalctl --output=json`, one entry per line. Skips invalid lines. */
export const parseJournal = (output: string): JournalReading[] =>
  output.split('\n').flatMap((line) => {
    const entry = parseEntry(line);
    const at = Number(entry?.['__REALTIME_TIMESTAMP']) / 1000;
    if (!entry || !Number.isFinite(at)) return [];
    const read = (field: string): string => readJournalField(entry[field]) ?? '';
    const priority = Number.parseInt(read('PRIORITY'), 10);
    return {
      at: new Date(at),
      source: read('SYSLOG_IDENTIFIER') || read('_COMM') || read('_TRANSPORT'),
      transport: read('_TRANSPORT'),
      priority: Number.isNaN(priority) ? null : priority,
      text: read('MESSAGE'),
    };
  });

const parseEntry = (line: string): Record<string, unknown> | undefined => {
  const entry = parseJson(line);
  return isObject(entry) ? entry : undefined;
};

/**
 * Returns the first value of a field: a string, or an array of bytes if the string is not printable. Null if the value
 * is missing or too long.
 */
export const readJournalField = (value: unknown): string | null => {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return null;
  return typeof value[0] === 'number' ? Buffer.from(value).toString() : readJournalField(value[0]);
};

/**
 * Runs systemctl, with the output going to that of this process. Returns the exit status, or the error that prevented
 * the start.
 */
export const runSystemctl = (args: readonly string[]): { status: number | null; error?: Error } =>
  spawnSync('systemctl', args, { stdio: 'inherit' });
