import { hash } from 'node:crypto';
import type { Parts } from '../../../kit/feature.ts';
import type { ReplacedFile } from '../../../storage/replaced-file.ts';
import type { Storage } from '../../../storage/storage.ts';
import { waitForMessageTurn } from '../message/message-turn.ts';
import { DeliveryProgress, parseProgress } from './progress.ts';
import { readFormerProgress } from './upgrade.ts';

/** Milliseconds between two writes. */
const writeMs = 1000;

/** Progress of a destination, with its file. */
export type KeptProgress = ReturnType<typeof keepProgress>;

interface ProgressParts extends Pick<Parts, 'log'> {
  storage: Pick<Storage, 'log' | 'file'>;
  /** Seq up to which a new destination gets no alerts. */
  start: number;
  /** Last seq in the alert log. */
  stored: number;
}

/** Opens `outbox-NAME.progress`. If there is no such file, reads the journal of version 1.0. */
export const openProgress = async (destination: string, parts: ProgressParts): Promise<KeptProgress> => {
  const { storage, log, start, stored } = parts;
  const name = toFileName(destination);
  const file = storage.file(`outbox-${name}.progress`);
  const bytes = await file.read();
  const progress = bytes
    ? readFile(bytes, destination, log)
    : ((await readFormerProgress(name, storage)) ?? new DeliveryProgress(start));
  if (progress.cut(stored).isReplaced) {
    log.warn({ destination }, 'outbox: the alert log was replaced; delivery continues with new alerts');
  }
  const kept = keepProgress(progress, file, (err) =>
    log.error({ err, destination }, 'outbox: the delivery progress could not be written; a restart repeats deliveries'),
  );
  await kept.write();
  return kept;
};

/** Returns the name of a destination for use in file names. The names of contact methods contain `/` and user names. */
const toFileName = (name: string): string =>
  name.includes('/') ? `way-${hash('sha256', name, 'hex').slice(0, 32)}` : name;

/** Parses the file. If it is damaged, no alerts are lost, because all alerts in the log are delivered again. */
const readFile = (bytes: Buffer, name: string, log: Parts['log']): DeliveryProgress => {
  try {
    return parseProgress(bytes.toString());
  } catch (err) {
    log.error(
      { err, destination: name },
      'outbox: the delivery progress cannot be read; all alerts are delivered again',
    );
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
    // The queued write will include this change.
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
  /**
   * Writes within a second, at different times for different destinations. A lost change only leads to repeated
   * deliveries.
   */
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
    /** True if the last write failed. */
    isUnwritten: () => isUnwritten,
    /** Writes the last changes and stops. A new destination may then use this file. */
    close: () => {
      clearTimeout(timer);
      const written = write();
      isClosed = true;
      return written;
    },
  };
};
