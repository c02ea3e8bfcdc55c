import { join } from 'node:path';
import { JournalError } from '../journal/errors.ts';
import type { JournalEvent } from '../journal/events.ts';
import type { Journal } from '../journal/journal.ts';
import { ChangeLog } from './change-log.ts';
import type { Changes, State } from './changes.ts';
import { createStateFile, type OnDamage } from './state-file.ts';

const MiB = 1024 * 1024;

/** Closed segments are deleted as soon as the state's file does not need them. */
const options = { segmentBytes: 16 * MiB, retainBytes: 1, awaitsHold: true, maxLineBytes: 4 * MiB };

export type LogOptions = typeof options;

interface Surroundings {
  directory: string;
  /** Opens the log; events for which `isExpected` returns true need not be reported. */
  openJournal(options: LogOptions, isExpected: (event: JournalEvent) => boolean): Promise<Journal>;
  /** Gets the error when the state could not be written; the log is kept then. */
  report(error: Error): void;
}

/**
 * Opens the changes that are kept in files of a directory, and applies them to the state, which must be empty. Throws a
 * JournalError, `damaged` where a change is missing.
 */
export const openChangeLog = async <Change, Result>(
  { directory, openJournal, report }: Surroundings,
  name: string,
  state: State<Change, Result>,
  onLost: () => void,
): Promise<Changes<Change, Result>> => {
  let log: ChangeLog<Change, Result> | undefined;
  const journal = await openJournal(options, ({ type }) => {
    // What somebody moved away is missing on the next start, unless the state's file has it.
    if (type === 'reopened') log?.save().catch(report);
    return type === 'segments-removed';
  });
  try {
    const file = createStateFile(join(directory, `${name}.state`));
    const savedSeq = (await file.read((change: Change) => state.apply(change), refuse)) ?? 0;
    // After a failure the state can be as of a record that never reached the disk; its seq is not used again.
    while (journal.state().lastSeq < savedSeq) await journal.append({ changes: [] });
    const seq = await replay(journal, savedSeq, state, refuse);
    const opened = new ChangeLog({ journal, file, state, seq, savedSeq, onLost, report });
    const ignore = (): void => undefined;
    await journal.holdFrom(() => opened.savedSeq, Number.POSITIVE_INFINITY, ignore);
    log = opened;
    return opened;
  } catch (error) {
    await journal.close();
    throw error;
  }
};

/**
 * Applies the changes that are kept in files of a directory to the state, which must be empty, as far as they can be read;
 * `onDamage` gets what is missing. Changes of the state's file for which `isWhole` returns false are left out.
 */
export const readChangeLog = async <Change>(
  { directory, openJournal }: Pick<Surroundings, 'directory' | 'openJournal'>,
  name: string,
  state: State<Change, unknown>,
  { isWhole, onDamage }: { isWhole(change: Change): boolean; onDamage: OnDamage },
): Promise<void> => {
  const journal = await openJournal(options, () => false);
  try {
    const path = join(directory, `${name}.state`);
    const apply = (change: Change): void => {
      if (isWhole(change)) state.apply(change);
      else onDamage(`a change in ${path} is damaged`);
    };
    await replay(journal, await createStateFile(path).read(apply, onDamage), state, onDamage);
  } finally {
    await journal.close();
  }
};

const refuse: OnDamage = (damage) => {
  throw new JournalError('damaged', damage);
};

/** Applies the records after a seq, all if it is unknown; resolves to the last one's. */
const replay = async <Change>(
  journal: Journal,
  savedSeq: number | undefined,
  state: State<Change, unknown>,
  onDamage: OnDamage,
): Promise<number> => {
  let last = savedSeq;
  for await (const records of journal.readAfter(savedSeq ?? 0)) {
    for (const { seq, changes } of records) {
      const next = (last ?? seq - 1) + 1;
      if (seq !== next) onDamage(describeGap(next, seq - 1));
      last = seq;
      for (const change of changes as Change[]) state.apply(change);
    }
  }
  return last ?? 0;
};

const describeGap = (first: number, last: number): string =>
  last > first
    ? `records ${first} to ${last} of the log are missing or damaged`
    : `record ${first} of the log is missing or damaged`;
