import { rm } from 'node:fs/promises';
import { SettingsError } from '../../config/settings-error.ts';
import type { Transfer } from '../../profiles/feature.ts';
import { JournalError } from '../../storage/journal/errors.ts';
import { createFileNames } from '../../storage/journal/files.ts';
import { type Journal, openJournal } from '../../storage/journal/journal.ts';
import type { StoredRecord } from '../../storage/journal/read/lines.ts';
import type { MovedRecord } from '../../storage/record-log.ts';
import type { OnProblem } from './lines.ts';

/** Records that are written together, and characters of their lines; a log takes more at once. */
const pieceCount = 5000;
const pieceLength = 1024 * 1024;

/**
 * The records of a log in the directory, some at a time. `onProblem` gets how many lines were left out: damaged ones, those
 * that were not written by signalbox, and records for which `isWhole` returns false. Throws a SettingsError.
 */
export async function* readRecords(
  directory: string,
  { name }: Transfer,
  { isWhole, onProblem }: { isWhole(record: MovedRecord): boolean; onProblem: OnProblem },
): AsyncGenerator<MovedRecord[]> {
  const journal = await openJournal({ directory, name }).catch(refuse);
  let leftOut = 0;
  const onSkipped = (lines: number): void => {
    leftOut += lines;
  };
  try {
    for await (const stored of journal.readAfter(0, onSkipped)) {
      const records = stored.map(toMoved).filter(isWhole);
      leftOut += stored.length - records.length;
      yield records;
    }
  } finally {
    await journal.close();
  }
  if (leftOut > 0) onProblem(`${name}: ${leftOut} ${leftOut === 1 ? 'line' : 'lines'} of the log`);
}

const toMoved = ({ id, seq: _seq, crc: _crc, part: _part, ...record }: StoredRecord): MovedRecord => ({ id, record });

/** An empty log that an import fills. */
export interface RecordTarget {
  /** Takes a record, whose line has so many bytes; what it returns is to be awaited. */
  add(record: MovedRecord, length: number): Promise<void> | undefined;
  /** Resolves when all records are on disk. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens a log in the directory, which must be empty; with `isBegun`, what an interrupted import has stored is removed.
 * `onFirst` is awaited before the first record is written. Throws a SettingsError.
 */
export const openEmptyLog = async (
  directory: string,
  name: string,
  { isBegun, onFirst }: { isBegun: boolean; onFirst(): Promise<void> },
): Promise<RecordTarget> => {
  const open = (): Promise<Journal> => openJournal({ directory, name }).catch(refuse);
  let journal = await open();
  if (isBegun) {
    // With the lock, this is nobody else's import.
    await journal.close();
    await removeLog(directory, name);
    journal = await open();
  }
  if (!(await isEmpty(journal))) {
    await journal.close();
    throw new SettingsError([`the store has or had ${name} already; import into an empty one`]);
  }
  let waiting: MovedRecord[] = [];
  let waitingLength = 0;
  const flush = async (): Promise<void> => {
    const records = waiting;
    waiting = [];
    waitingLength = 0;
    if (records.length === 0) return;
    await onFirst();
    await Promise.all(records.map(({ id, record }) => journal.append(record, id)));
  };
  return {
    add: (record, length) => {
      waiting.push(record);
      waitingLength += length;
      return waiting.length >= pieceCount || waitingLength > pieceLength ? flush() : undefined;
    },
    flush,
    close: () => journal.close(),
  };
};

/** Deletes a log that nobody has open. */
export const removeLog = async (directory: string, name: string): Promise<void> => {
  for (const path of await createFileNames(directory, name).listAll()) await rm(path, { force: true });
};

const isEmpty = async (journal: Journal): Promise<boolean> => {
  if (journal.state().lastSeq > 0) return false;
  const { count, damaged, close } = await journal.listLast(1);
  await close();
  return count + damaged === 0;
};

/** Throws a SettingsError for a log that cannot be opened. */
export const refuse = (error: unknown): never => {
  if (!(error instanceof JournalError)) throw error;
  throw new SettingsError([`dataDir: ${error.message}${error.code === 'locked' ? '; stop it first' : ''}`]);
};
