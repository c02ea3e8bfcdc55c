import type { Journal } from '../../storage/journal/journal.ts';
import type { OpenLog } from '../feature.ts';
import { type EarlyLine, Progress, type ProgressLine } from './progress.ts';

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
  /** Called when the progress cannot be written, once until it can be again. */
  onUnwritten(err: unknown): void;
}

/** Opens the journal `outbox-NAME`. */
export const openProgressLog = async (
  openLog: OpenLog,
  name: string,
  { start, stored, onReplaced, onUnwritten }: Beginning,
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
    for (const line of lines) progress.apply(line as unknown as ProgressLine | EarlyLine);
  }
  if (progress.cursor > stored) {
    onReplaced();
    progress.restart(stored);
  }
  const { save, flush } = createWriter(journal, progress, onUnwritten);
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

/** Writes one group of lines at a time, each with everything that happened since the one before. */
const createWriter = (journal: Journal, progress: Progress, onUnwritten: (err: unknown) => void) => {
  let isChanged = false;
  let writing: Promise<void> | undefined;
  let bytes = 0;
  let isUnwritten = false;
  // The first line is a checkpoint.
  let bytesToCheckpoint = 0;
  const write = async (): Promise<void> => {
    while (isChanged) {
      isChanged = false;
      const isCheckpoint = bytes >= bytesToCheckpoint;
      const lines = progress.takeLines(isCheckpoint);
      const length = JSON.stringify(lines).length;
      bytes = isCheckpoint ? 0 : bytes + length;
      if (isCheckpoint) bytesToCheckpoint = Math.max(checkpointBytes, length);
      try {
        await journal.appendAll(lines.map((line) => ({ ...line })));
        isUnwritten = false;
      } catch (err) {
        if (!isUnwritten) onUnwritten(err);
        isUnwritten = true;
        // The next lines make up for these.
        bytesToCheckpoint = 0;
      }
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
