import { join } from 'node:path';
import { JournalError } from '../journal/errors.ts';
import type { Journal } from '../journal/journal.ts';
import type { LogRecord } from '../journal/line.ts';
import type { JournalEvent } from '../journal/options.ts';
import { ChangeLog } from './change-log.ts';
import type { Changes, State } from './changes.ts';
import { createStateFile, type OnDamage } from './state-file.ts';

const MiB = 1024 * 1024;

/** How many records are written at once to make up for missing ones. */
const atOnce = 10_000;

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
    if (type === 'reopened') log?.save().catch(() => undefined);
    return type === 'segments-removed';
  });
  try {
    const file = createStateFile(join(directory, `${name}.state`));
    // The checksum of the file is known only at its end.
    const apply = (value: unknown): void => {
      if (!tryApply(state, value)) refuse(`a change in ${name}.state is damaged or ${unknown}`);
    };
    const savedSeq = (await file.read(apply, refuse)) ?? 0;
    await fillUp(journal, savedSeq, { changes: [] });
    const replayed = await replay(journal, savedSeq, state, refuse);
    const opened = new ChangeLog({ journal, file, state, onLost, report }, { ...replayed, savedSeq });
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
    const apply = (value: unknown): void => {
      if (!tryApply(state, value, isWhole)) onDamage(`a change in ${path} is damaged or ${unknown}`);
    };
    await replay(journal, await createStateFile(path).read(apply, onDamage), state, onDamage);
  } finally {
    await journal.close();
  }
};

/**
 * Writes empty records up to the state's seq, so that none before it is used again: after a failure the state can be as
 * of a record that never reached the disk, and after a crash every segment before it may be deleted.
 */
export const fillUp = async (journal: Journal, savedSeq: number, empty: LogRecord): Promise<void> => {
  for (let missing = savedSeq - journal.state().lastSeq; missing > 0; missing -= atOnce) {
    await journal.appendAll(Array.from({ length: Math.min(missing, atOnce) }, () => empty));
  }
};

const refuse: OnDamage = (damage) => {
  throw new JournalError('damaged', damage);
};

/** Applies the records after a seq, all if it is unknown; resolves to the last one's, and the characters of all. */
const replay = async <Change>(
  journal: Journal,
  savedSeq: number | undefined,
  state: State<Change, unknown>,
  onDamage: OnDamage,
): Promise<{ seq: number; growth: number }> => {
  let last = savedSeq;
  let growth = 0;
  for await (const records of journal.readAfter(savedSeq ?? 0)) {
    for (const { seq, changes } of records) {
      const next = (last ?? seq - 1) + 1;
      if (seq !== next) onDamage(describeGap(next, seq - 1));
      last = seq;
      const lengths = Array.isArray(changes) ? changes.map((change) => tryApply(state, change)) : [0];
      if (!lengths.every(Boolean)) onDamage(`record ${seq} of the log ${unknown}`);
      growth += lengths.reduce((sum, length) => sum + length, 0);
    }
  }
  const { lastSeq } = journal.state();
  if (last !== undefined && last < lastSeq) onDamage(describeGap(last + 1, lastSeq));
  return { seq: last ?? 0, growth };
};

/** Applies what was stored; returns its length as JSON, or 0 for a change that this version cannot apply. */
const tryApply = <Change>(
  state: State<Change, unknown>,
  value: unknown,
  isWhole: (change: Change) => boolean = () => true,
): number => {
  try {
    const change = state.toChange(value);
    if (change === undefined || !isWhole(change)) return 0;
    state.apply(change);
    return state.lengthOf(change);
  } catch {
    return 0;
  }
};

const unknown = 'cannot be read by this version of signalbox';

const describeGap = (first: number, last: number): string =>
  last > first
    ? `records ${first} to ${last} of the log are missing or damaged`
    : `record ${first} of the log is missing or damaged`;
