import { join } from 'node:path';
import { JournalError } from '../journal/errors.ts';
import type { Journal } from '../journal/journal.ts';
import type { JournalOptions } from '../journal/options.ts';
import { ChangeLog } from './change-log.ts';
import type { Changes, State } from './changes.ts';
import { createStateFile } from './state-file.ts';

const MiB = 1024 * 1024;

/** Closed segments are deleted as soon as the state's file does not need them. */
const options = { segmentBytes: 16 * MiB, retainBytes: 1, awaitsHold: true, maxLineBytes: 4 * MiB };

interface Surroundings {
  directory: string;
  openJournal(name: string, options: Partial<JournalOptions>): Promise<Journal>;
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
  const journal = await openJournal(name, options);
  try {
    const file = createStateFile(join(directory, `${name}.state`));
    const savedSeq = await file.read((change: Change) => state.apply(change));
    // After a failure the state can be as of a record that never reached the disk; its seq is not used again.
    while (journal.state().lastSeq < savedSeq) await journal.append({ changes: [] });
    const seq = await replay(journal, savedSeq, state);
    const log = new ChangeLog({ journal, file, state, seq, savedSeq, onLost, report });
    await journal.holdFrom(
      () => log.savedSeq,
      Number.POSITIVE_INFINITY,
      () => undefined,
    );
    return log;
  } catch (error) {
    await journal.close();
    throw error;
  }
};

/** Applies the records after a seq; resolves to the last one's. */
const replay = async <Change>(journal: Journal, savedSeq: number, state: State<Change, unknown>): Promise<number> => {
  let last = savedSeq;
  for await (const records of journal.readAfter(savedSeq)) {
    for (const { seq, changes } of records) {
      if (seq !== last + 1) throw new JournalError('damaged', `record ${last + 1} of the log is missing or damaged`);
      last = seq;
      for (const change of changes as Change[]) state.apply(change);
    }
  }
  return last;
};
