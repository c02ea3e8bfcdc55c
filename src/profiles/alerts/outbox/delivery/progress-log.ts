import type { Journal } from '../../../../storage/journal/journal.ts';
import type { OpenLog } from '../../../feature.ts';
import { Progress, type ProgressLine } from './progress.ts';

const MiB = 1024 * 1024;

/** Bytes of lines after which all parked alerts are written again, so that older files can be deleted. */
const checkpointBytes = 256 * 1024;

/** A destination's progress and the journal that keeps it. */
export interface ProgressLog {
  progress: Progress;
  /** Writes the progress soon; does not wait, since a lost line can only repeat deliveries. */
  save(): void;
  reopen(): Promise<void>;
  /** Writes what was not written yet. */
  close(): Promise<void>;
}

interface Beginning {
  /** A destination without a journal begins after this seq. */
  start: number;
  /** The last seq of the alert log. */
  stored: number;
  /** Called if the alert log ends before what was delivered: it was replaced. */
  onReplaced(): void;
}

/** Opens the journal `outbox-NAME`. */
export const openProgressLog = async (
  openLog: OpenLog,
  name: string,
  { start, stored, onReplaced }: Beginning,
): Promise<ProgressLog> => {
  const journal = await openLog(`outbox of ${name}`, {
    name: `outbox-${name}`,
    sync: false,
    segmentBytes: MiB,
    // A checkpoint with many parked alerts has a file of its own.
    retainSegments: 3,
  });
  const progress = new Progress(start);
  for await (const lines of journal.readAfter(0)) {
    for (const line of lines) progress.apply(line as unknown as ProgressLine);
  }
  if (progress.cursor > stored) {
    onReplaced();
    progress.restart(stored);
  }
  const { save, flush } = createWriter(journal, progress);
  save();
  await flush();
  return {
    progress,
    save,
    reopen: () => journal.reopen(),
    close: async () => {
      save();
      await flush();
      await journal.close();
    },
  };
};

/** Writes one line at a time, each with everything that happened since the one before. */
const createWriter = (journal: Journal, progress: Progress) => {
  let isChanged = false;
  let writing: Promise<void> | undefined;
  let bytes = 0;
  // The first line is a checkpoint.
  let bytesToCheckpoint = 0;
  const write = async (): Promise<void> => {
    while (isChanged) {
      isChanged = false;
      const isCheckpoint = bytes >= bytesToCheckpoint;
      const line = progress.takeLine(isCheckpoint);
      const length = JSON.stringify(line).length;
      bytes = isCheckpoint ? 0 : bytes + length;
      if (isCheckpoint) bytesToCheckpoint = Math.max(checkpointBytes, length);
      await journal.append({ ...line }).catch(() => {
        // The journal reports it. The next line makes up for this one.
        bytesToCheckpoint = 0;
      });
    }
    writing = undefined;
  };
  return {
    save: () => {
      isChanged = true;
      writing ??= write();
    },
    flush: async () => writing,
  };
};
