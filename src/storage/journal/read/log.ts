import { open } from 'node:fs/promises';
import { JournalError, passIfGone } from '../errors.ts';
import type { SegmentStore } from '../write/segment-store.ts';
import { type Line, type ReadAt, readLinesBackwards, toReadAt } from './backwards.ts';

export type Log = Pick<SegmentStore, 'takeSnapshot' | 'readSerially'>;

/** A file of the log that can be read again later. */
export interface LogFile {
  /** Works while the file is held; rejects if a closed file was deleted. */
  read: ReadAt;
  hold(): void;
  release(): Promise<void>;
}

/**
 * Every line of the log, last one first, as of the first read.
 * @throws JournalError `window-too-large` when more than `maxBytes` would have to be read
 */
export async function* readLogBackwards(
  log: Log,
  maxLineBytes: number,
  maxBytes = Number.POSITIVE_INFINITY,
): AsyncGenerator<{ file: LogFile; lines: Iterable<Line> }> {
  const limit = createByteLimit(maxBytes);
  for await (const { file, read, end } of openFiles(log)) {
    for await (const lines of readLinesBackwards(limit(read), end, maxLineBytes)) {
      yield { file, lines };
    }
  }
}

/** Newest first. A closed file is open only while it is read: a reader that waits for its client has none open. */
async function* openFiles(log: Log): AsyncGenerator<{ file: LogFile; read: ReadAt; end: number }> {
  const inTurn =
    (read: ReadAt): ReadAt =>
    (buffer, position) =>
      log.readSerially(() => read(buffer, position));
  const { active, size, closed } = log.takeSnapshot();
  const read = inTurn(toReadAt(active.handle));
  try {
    yield { file: { read, hold: active.retain, release: active.release }, read, end: size };
  } finally {
    await active.release();
  }
  for (const path of closed) {
    // Retention or an administrator may delete a segment at any time.
    const handle = await open(path, 'r').catch(passIfGone);
    if (handle) {
      const file = { read: inTurn(createReadByPath(path)), hold: () => undefined, release: async () => undefined };
      try {
        yield { file, read: inTurn(toReadAt(handle)), end: (await handle.stat()).size };
      } finally {
        await handle.close();
      }
    }
  }
}

const createByteLimit = (maxBytes: number): ((read: ReadAt) => ReadAt) => {
  let left = maxBytes;
  return (read) => async (buffer, position) => {
    left -= buffer.length;
    if (left < 0) {
      throw new JournalError('window-too-large', `a listing reads at most ${maxBytes} bytes of the log`);
    }
    return read(buffer, position);
  };
};

const createReadByPath =
  (path: string): ReadAt =>
  async (buffer, position) => {
    const handle = await open(path, 'r');
    try {
      return await toReadAt(handle)(buffer, position);
    } finally {
      await handle.close();
    }
  };
