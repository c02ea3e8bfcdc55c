import { open } from 'node:fs/promises';
import { JournalError, passIfGone } from '../errors.ts';
import type { SegmentStore } from '../write/segment-store.ts';
import { type Line, type ReadAt, readLinesBackwards, toReadAt } from './backwards.ts';

export type Log = Pick<SegmentStore, 'takeSnapshot' | 'readSerially'>;

/** A file of the log that can be read again later. */
export interface LogFile {
  /** Works while the file is held; rejects where a closed file was deleted. */
  read: ReadAt;
  hold(): void;
  release(): Promise<void>;
}

type Snapshot = ReturnType<Log['takeSnapshot']>;

/** A file of the log while it is open. */
interface OpenFile {
  file: LogFile;
  read: ReadAt;
  /** How many of its bytes may be read. */
  end: number;
}

/**
 * Every line of the log, last one first, as the log is when the first is asked for.
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

interface OpenFile {
  file: LogFile;
  read: ReadAt;
  end: number;
}

/** Newest first. A closed file is open only while it is read: a reader that waits for its client has none open. */
async function* openFiles(log: Log): AsyncGenerator<OpenFile> {
  const { active, size, closed } = log.takeSnapshot();
  try {
    yield toOpenFile(log, active, size);
  } finally {
    await active.release();
  }
  for (const path of closed) yield* openClosed(log, path);
}

/** The same files, oldest first. */
export async function* openFilesForward(log: Log): AsyncGenerator<OpenFile> {
  const { active, size, closed } = log.takeSnapshot();
  try {
    for (const path of [...closed].reverse()) yield* openClosed(log, path);
    yield toOpenFile(log, active, size);
  } finally {
    await active.release();
  }
}

const toOpenFile = (log: Log, { handle, retain, release }: Snapshot['active'], end: number): OpenFile => {
  const read = inTurn(log, toReadAt(handle));
  return { file: { read, hold: retain, release }, read, end };
};

/** Yields the file unless it is gone: retention, or a person, may delete a segment at any time. */
async function* openClosed(log: Log, path: string): AsyncGenerator<OpenFile> {
  const handle = await open(path, 'r').catch(passIfGone);
  if (!handle) return;
  const file = { read: inTurn(log, createReadByPath(path)), hold: () => undefined, release: async () => undefined };
  try {
    yield { file, read: inTurn(log, toReadAt(handle)), end: (await handle.stat()).size };
  } finally {
    await handle.close();
  }
}

const inTurn =
  (log: Log, read: ReadAt): ReadAt =>
  (buffer, position) =>
    log.readSerially(() => read(buffer, position));

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
