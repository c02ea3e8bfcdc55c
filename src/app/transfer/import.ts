import { resolve } from 'node:path';
import type { Settings } from '../../config/schema.ts';
import { SettingsError } from '../../config/settings-error.ts';
import type { Transfer } from '../../profiles/feature.ts';
import { readLines } from '../../storage/changes/state-file.ts';
import { isPostgresUrl } from '../../storage/postgres/connecting/address.ts';
import { unknownStore } from '../shared-store.ts';
import { openDatabaseTarget } from './database-store.ts';
import { openFiles } from './file-store.ts';
import {
  type Begun,
  type Counts,
  createChecks,
  type FindProblem,
  findHeaderProblem,
  isLastLine,
  type Target,
} from './lines.ts';

/** A line may have so many bytes: a body of 1 MiB with every character escaped, twice. */
const maxLineBytes = 16 * 1024 * 1024;

/**
 * Stores an export, whose lines come from a stream, in the configured store, which must be empty: all of it, or nothing if
 * it throws. Resolves to what was stored. Throws a SettingsError, with the number of the line that cannot be read.
 */
export const importStore = async (
  { store, dataDir }: Settings,
  transfers: readonly Transfer[],
  input: AsyncIterable<Buffer>,
): Promise<Counts> => {
  if (store === 'memory') {
    throw new SettingsError(['store: a memory store keeps nothing without its server; name another one with --store']);
  }
  if (store !== 'file' && !isPostgresUrl(store)) throw new SettingsError([unknownStore]);
  const target = isPostgresUrl(store)
    ? await openDatabaseTarget(store, transfers)
    : await openFiles(resolve(dataDir), transfers);
  try {
    const counts = await applyLines(input, listKinds(transfers), target);
    await target.store();
    return counts;
  } finally {
    await target.close();
  }
};

/** What is done with a line. */
interface Kind extends Pick<Begun, 'toChange'> {
  transfer: Transfer;
  findProblem: FindProblem;
}

/** What is done with lines, by their keys. */
const listKinds = (transfers: readonly Transfer[]): Map<string, Kind> =>
  new Map(
    transfers.flatMap((transfer) => {
      const { toChange } = transfer.begin();
      const checks = [...createChecks(transfer)];
      return checks.map(([key, findProblem]) => [key, { transfer, toChange, findProblem }] as const);
    }),
  );

const applyLines = async (
  input: AsyncIterable<Buffer>,
  kinds: ReadonlyMap<string, Kind>,
  target: Target,
): Promise<Counts> => {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const counts: Counts = {};
  let current = 1;
  let isComplete = false;
  try {
    for await (const line of readLines(input, maxLineBytes)) {
      const value: unknown = JSON.parse(decoder.decode(line));
      if (isComplete) throw new SettingsError(['nothing may follow the last line of an export']);
      if (current === 1) assertHeader(value);
      else if (isLastLine(value)) isComplete = true;
      else {
        const { key, transfer, change } = readLine(value, kinds);
        // Waiting for each line would take longer than applying it.
        const isStoring = target.apply(transfer, change, line.length);
        if (isStoring) await isStoring;
        counts[key] = (counts[key] ?? 0) + 1;
      }
      current += 1;
    }
  } catch (error) {
    throw new SettingsError([`line ${current}: ${explain(error as Error)}; nothing was imported`]);
  }
  if (isComplete) return counts;
  throw new SettingsError([
    `line ${current}: the export was cut short, its last line is missing; nothing was imported`,
  ]);
};

const assertHeader = (value: unknown): void => {
  const problem = findHeaderProblem(value);
  if (problem !== undefined) throw new SettingsError([problem]);
};

const readLine = (line: unknown, kinds: ReadonlyMap<string, Kind>) => {
  const entries = typeof line === 'object' && line !== null ? Object.entries(line) : [];
  const [[key, value] = [], ...others] = entries;
  const kind = others.length === 0 ? kinds.get(key ?? '') : undefined;
  if (key === undefined || !kind) {
    throw new SettingsError([`must be an object with one key of ${[...kinds.keys()].join(', ')}`]);
  }
  const problem = kind.findProblem(value);
  if (problem !== undefined) throw new SettingsError([problem]);
  const read = kind.toChange(key, value);
  if ('problem' in read) throw new SettingsError([`${key}.${read.problem}`]);
  return { key, transfer: kind.transfer, change: read.change };
};

/** The parser's own messages repeat the text, which may be long. */
const explain = (error: Error): string => {
  if (error instanceof SyntaxError) return 'not JSON';
  if (error instanceof TypeError) return 'not UTF-8';
  return error.message;
};
