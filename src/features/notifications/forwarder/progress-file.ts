import type { Parts } from '../../../kit/feature.ts';
import type { ReplacedFile } from '../../../storage/replaced-file.ts';
import type { Storage } from '../../../storage/storage.ts';
import { waitForMessageTurn } from '../message/message-turn.ts';
import { readFormerProgress } from './former-progress.ts';
import { DeliveryProgress, parseProgress } from './progress.ts';

/** Milliseconds between two writes. */
const writeMs = 1000;

/** A destination's progress and the file that keeps it. */
export type KeptProgress = ReturnType<typeof keepProgress>;

interface ProgressParts extends Pick<Parts, 'log'> {
  storage: Pick<Storage, 'log' | 'file'>;
  /** A new destination begins after this seq. */
  start: number;
  /** The last seq of the alert log. */
  stored: number;
}

/** Opens `outbox-NAME.progress`, at first with what the journal of version 1.0 says. */
export const openProgress = async (name: string, parts: ProgressParts): Promise<KeptProgress> => {
  const { storage, log, start, stored } = parts;
  const file = storage.file(`outbox-${name}.progress`);
  const bytes = await file.read();
  const progress = bytes
    ? readFile(bytes, name, log)
    : ((await readFormerProgress(name, storage)) ?? new DeliveryProgress(start));
  if (progress.cut(stored).isReplaced) {
    log.warn({ destination: name }, 'outbox: the alert log was replaced; delivery continues at its end');
  }
  const kept = keepProgress(progress, file, (err) =>
    log.error({ err, destination: name }, 'outbox: the progress could not be written; a restart repeats deliveries'),
  );
  await kept.write();
  return kept;
};

/** A file that somebody has damaged loses no alert: all that are in the log are delivered again. */
const readFile = (bytes: Buffer, name: string, log: Parts['log']): DeliveryProgress => {
  try {
    return parseProgress(bytes.toString());
  } catch (err) {
    log.error({ err, destination: name }, 'outbox: the progress cannot be read; all alerts are delivered again');
    return new DeliveryProgress(0);
  }
};

const keepProgress = (progress: DeliveryProgress, file: ReplacedFile, report: (err: unknown) => void) => {
  let isChanged = false;
  let isUnwritten = false;
  let timer: NodeJS.Timeout | undefined;
  let writing = Promise.resolve();
  let isQueued = false;
  let isClosed = false;
  const write = (): Promise<void> => {
    // The one that waits for its turn writes everything up to then.
    if (isQueued || isClosed) return writing;
    isQueued = true;
    writing = writing.then(async () => {
      await waitForMessageTurn();
      isQueued = false;
      isChanged = false;
      await file.write(Buffer.from(JSON.stringify(progress))).then(
        () => {
          isUnwritten = false;
        },
        (err) => {
          if (!isUnwritten) report(err);
          isUnwritten = true;
          isChanged = true;
        },
      );
    });
    return writing;
  };
  /** Writes within a second, not all destinations at once; a change that is not written can only repeat deliveries. */
  const save = (): void => {
    isChanged = true;
    if (timer || isClosed) return;
    void write();
    timer = setTimeout(
      () => {
        timer = undefined;
        if (isChanged) save();
      },
      writeMs * (0.5 + Math.random() / 2),
    );
  };
  return {
    progress,
    save,
    write,
    /** Whether the last write failed. */
    isUnwritten: () => isUnwritten,
    /** Writes what was not written yet, and nothing later: another destination may have the file then. */
    close: () => {
      clearTimeout(timer);
      const written = write();
      isClosed = true;
      return written;
    },
  };
};
