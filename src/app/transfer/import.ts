import { resolve } from 'node:path';
import type { Settings } from '../../config/schema.ts';
import { SettingsError } from '../../config/settings-error.ts';
import type { Transfer } from '../../profiles/feature.ts';
import { readLines } from '../../storage/changes/lines.ts';
import type { Counts } from './export.ts';
import { openFiles } from './file-store.ts';
import { type Begun, createChecks, type FindProblem, findHeaderProblem, isLastLine } from './lines.ts';

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
  const begun = new Map(transfers.map((transfer) => [transfer, transfer.begin()]));
  const target = await openFiles(resolve(dataDir), begun);
  try {
    assertEmpty(begun);
    const counts = await applyLines(input, listKinds(begun));
    await target.store();
    return counts;
  } finally {
    await target.close();
  }
};

const assertEmpty = (begun: ReadonlyMap<Transfer, Begun>): void => {
  for (const [{ name }, { state, toLine }] of begun) {
    for (const changes of state.changes()) {
      if (changes.some((change) => toLine(change) !== undefined)) {
        throw new SettingsError([`the store has or had ${name} already; import into an empty one`]);
      }
    }
  }
};

interface Kind extends Begun {
  findProblem: FindProblem;
}

/** What is done with a line, by its key. */
const listKinds = (begun: ReadonlyMap<Transfer, Begun>): Map<string, Kind> =>
  new Map(
    [...begun].flatMap(([transfer, each]) =>
      Array.from(createChecks(transfer), ([key, findProblem]) => [key, { ...each, findProblem }] as const),
    ),
  );

const applyLines = async (input: AsyncIterable<Buffer>, kinds: ReadonlyMap<string, Kind>): Promise<Counts> => {
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
      else applyLine(value, kinds, counts);
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

const applyLine = (line: unknown, kinds: ReadonlyMap<string, Kind>, counts: Counts): void => {
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
  kind.state.apply(read.change);
  counts[key] = (counts[key] ?? 0) + 1;
};

/** The parser's own messages repeat the text, which may be long. */
const explain = (error: Error): string => {
  if (error instanceof SyntaxError) return 'not JSON';
  if (error instanceof TypeError) return 'not UTF-8';
  return error.message;
};
