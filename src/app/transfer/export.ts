import { resolve } from 'node:path';
import type { Settings } from '../../config/schema.ts';
import { SettingsError } from '../../config/settings-error.ts';
import type { Transfer } from '../../profiles/feature.ts';
import { hasFiles, readFromFiles } from './file-store.ts';
import { createChecks, firstLine, lastLine, type OnProblem } from './lines.ts';

/** Lines that are given out together. */
const pieceLines = 1000;

/** What was moved, and how much of it: the number of lines by their key. */
export type Counts = Record<string, number>;

/**
 * Everything that the configured store holds, as lines of JSON, in pieces of text. `onProblem` gets what cannot be read,
 * which is left out. Throws a SettingsError for a store that cannot be read.
 */
export async function* exportStore(
  { store, dataDir }: Settings,
  transfers: readonly Transfer[],
  counts: Counts,
  onProblem: OnProblem,
): AsyncGenerator<string> {
  if (store === 'memory') {
    throw new SettingsError(['store: a memory store holds nothing without its server; name another one with --store']);
  }
  const directory = resolve(dataDir);
  const kept = transfers.filter((transfer) => hasFiles(directory, transfer));
  if (kept.length === 0) {
    throw new SettingsError([`dataDir: ${directory} has nothing to export; choose another folder with --data-dir`]);
  }
  // Nothing is printed if the first list cannot be opened.
  let opening = toText([firstLine]);
  for (const transfer of kept) {
    for await (const text of exportTransfer(directory, transfer, counts, onProblem)) {
      yield opening + text;
      opening = '';
    }
  }
  yield toText([lastLine]);
}

async function* exportTransfer(
  directory: string,
  transfer: Transfer,
  counts: Counts,
  onProblem: OnProblem,
): AsyncGenerator<string> {
  const { state, toLine } = transfer.begin();
  const checks = createChecks(transfer);
  const checked = transfer.begin();
  const isWhole = (change: unknown): boolean => {
    try {
      const [key, value] = checked.toLine(change) ?? [];
      return key === undefined || checks.get(key)?.(value) === undefined;
    } catch {
      return false;
    }
  };
  await readFromFiles(directory, transfer, state, { isWhole, onProblem });
  let lines: object[] = [];
  let lost = 0;
  for (const changes of state.changes()) {
    for (const change of changes) {
      // A list has a hole where an entry was lost.
      if (change === undefined) lost += 1;
      else {
        const [key, value] = toLine(change) ?? [];
        if (key === undefined) continue;
        counts[key] = (counts[key] ?? 0) + 1;
        lines.push({ [key]: value });
      }
    }
    if (lines.length < pieceLines) continue;
    yield toText(lines);
    lines = [];
  }
  if (lost > 0) onProblem(`${transfer.name}: lost ${lost}; those after move up`);
  yield toText(lines);
}

const toText = (lines: readonly object[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join('');
