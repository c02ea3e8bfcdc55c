import { resolve } from 'node:path';
import type { Settings } from '../../config/schema.ts';
import { SettingsError } from '../../config/settings-error.ts';
import type { Transfer } from '../../profiles/feature.ts';
import { isPostgresUrl } from '../../storage/postgres/address.ts';
import { unknownStore } from '../shared-store.ts';
import { openSource } from './database-store.ts';
import { assertNoUnfinishedImport, hasFiles, readFromFiles } from './file-store.ts';
import { type Counts, createChecks, firstLine, lastLine, type OnProblem, type ReadChanges } from './lines.ts';
import { readRecords } from './record-files.ts';

/** Characters of lines that are given out together, and the last line beyond that. */
const pieceLength = 256 * 1024;

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
    throw new SettingsError([
      'store: a memory store holds no tasks or items without its server; export alerts and the audit with --store file',
    ]);
  }
  if (isPostgresUrl(store)) {
    const { read, close } = await openSource(store);
    try {
      yield* exportAll(transfers, read, counts, onProblem);
    } finally {
      close();
    }
    return;
  }
  if (store !== 'file') throw new SettingsError([unknownStore]);
  const directory = resolve(dataDir);
  assertNoUnfinishedImport(directory);
  const kept = transfers.filter((transfer) => hasFiles(directory, transfer));
  if (kept.length === 0) {
    throw new SettingsError([`dataDir: ${directory} has nothing to export; choose another folder with --data-dir`]);
  }
  yield* exportAll(kept, (transfer) => readChangesOfFiles(directory, transfer, onProblem), counts, onProblem);
}

async function* exportAll(
  transfers: readonly Transfer[],
  read: ReadChanges,
  counts: Counts,
  onProblem: OnProblem,
): AsyncGenerator<string> {
  // Nothing is printed if the first list cannot be opened.
  let opening = toText(firstLine);
  for (const transfer of transfers) {
    for await (const text of exportTransfer(transfer, read(transfer), counts, onProblem)) {
      yield opening + text;
      opening = '';
    }
  }
  yield opening + toText(lastLine);
}

async function* readChangesOfFiles(
  directory: string,
  transfer: Transfer,
  onProblem: OnProblem,
): AsyncGenerator<readonly unknown[]> {
  const { state } = transfer.begin();
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
  if (state) {
    await readFromFiles(directory, transfer, state, { isWhole, onProblem });
    yield* state.changes();
  } else {
    yield* readRecords(directory, transfer, { isWhole, onProblem });
  }
}

async function* exportTransfer(
  transfer: Transfer,
  pieces: AsyncIterable<readonly unknown[]>,
  counts: Counts,
  onProblem: OnProblem,
): AsyncGenerator<string> {
  const { toLine } = transfer.begin();
  let text = '';
  let lost = 0;
  for await (const changes of pieces) {
    for (const change of changes) {
      // A list has a hole where an entry was lost.
      if (change === undefined) lost += 1;
      else {
        const [key, value] = toLine(change) ?? [];
        if (key === undefined) continue;
        counts[key] = (counts[key] ?? 0) + 1;
        text += toText({ [key]: value });
      }
      if (text.length < pieceLength) continue;
      yield text;
      text = '';
    }
  }
  if (lost > 0) onProblem(`${transfer.name}: lost ${lost}; those after move up`);
  yield text;
}

const toText = (line: object): string => `${JSON.stringify(line)}\n`;
