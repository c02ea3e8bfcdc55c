import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import type { Serially } from '../../../lib/scheduling.ts';
import { MiB } from '../../../lib/units.ts';
import { JournalError, passIfGone } from '../errors.ts';
import { type Line, type ReadAt, readLinesBackwards, readSeq, toReadAt } from './lines.ts';

/** Files of the log at one point in time. */
export interface LogFiles {
  /** Active file with `size` readable bytes. The reader must release it. */
  active: { handle: FileHandle; retain(): void; release(): Promise<void> };
  size: number;
  /** Paths of the closed segments, newest first. */
  closed: readonly string[];
}

export interface Log {
  retainFiles(): LogFiles;
  /** Runs the steps of all readers one at a time. */
  readSerially: Serially;
  /** Calls the listener with the new path of the active file when the file is closed. */
  onClosed(listener: (active: LogFiles['active'], path: string) => void): void;
}

/** Open file of the log. */
export interface LogFile {
  /** Path of a closed file, or handle of the active file. */
  identity: string | LogFiles['active'];
  read: ReadAt;
  /** Number of readable bytes. */
  end: number;
  /**
   * Keeps the file readable through `readLater` until `release`. `readLater` rejects if a closed file has been deleted.
   */
  hold(): void;
  readLater: ReadAt;
  release(): Promise<void>;
}

/**
 * Reads every line that the log has at the first read, last line first. Throws a JournalError with the code
 * `window-too-large` before exceeding `maxBytes`.
 */
export async function* readLogBackwards(
  log: Log,
  maxLineBytes: number,
  maxBytes = Number.POSITIVE_INFINITY,
): AsyncGenerator<{ file: LogFile; lines: readonly Line[] }> {
  const limit = createByteLimit(maxBytes);
  for await (const file of openLogFiles(log)) {
    for await (const lines of readLinesBackwards(limit(file.read), file.end, maxLineBytes)) yield { file, lines };
  }
}

/**
 * Opens the files one at a time, newest or oldest first. Leaves out closed files that `isWanted` rejects. A closed file
 * is open only while it is being read, so a reader that waits for its client keeps no closed file open.
 */
export async function* openLogFiles(
  log: Log,
  isWanted = (_path: string) => true,
  { oldestFirst = false } = {},
): AsyncGenerator<LogFile> {
  const { active, size, closed } = log.retainFiles();
  const files = [active, ...closed];
  try {
    for (const file of oldestFirst ? files.reverse() : files) {
      if (file === active) yield toActiveFile(log, active, size);
      else if (typeof file === 'string' && isWanted(file)) yield* openClosed(log, file);
    }
  } finally {
    await active.release();
  }
}

const toActiveFile = (log: Log, active: LogFiles['active'], end: number): LogFile => {
  const read = inTurn(log, toReadAt(active.handle));
  return { identity: active, read, end, hold: active.retain, readLater: read, release: active.release };
};

/** Yields the file if it exists. Retention or a person may delete a segment at any time. */
export async function* openClosed(log: Log, path: string): AsyncGenerator<LogFile> {
  const handle = await open(path, 'r').catch(passIfGone);
  if (!handle) return;
  const readLater = inTurn(log, async (buffer, position) => {
    const again = await open(path, 'r');
    try {
      return await toReadAt(again)(buffer, position);
    } finally {
      await again.close();
    }
  });
  try {
    const [read, { size: end }] = [inTurn(log, toReadAt(handle)), await handle.stat()];
    yield { identity: path, read, end, hold: () => undefined, readLater, release: async () => undefined };
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

/**
 * Maximum size in bytes of lines without a seq after which the search gives up. Such lines come from other programs.
 */
const searchedBytes = 4 * MiB;

/** Resolves to the last seq in the log. 0 without a record. */
export const findLastSeq = async (log: Log, maxLineBytes: number): Promise<number> => {
  const find = createFinder();
  for await (const { lines } of readLogBackwards(log, maxLineBytes)) {
    const seq = find(lines);
    if (seq !== undefined) return seq;
  }
  return 0;
};

/** Resolves to the last seq in a closed segment. 0 without a record. */
export const findLastSeqIn = async (path: string, maxLineBytes: number): Promise<number> => {
  const handle = await open(path, 'r');
  try {
    const find = createFinder();
    for await (const lines of readLinesBackwards(toReadAt(handle), (await handle.stat()).size, maxLineBytes)) {
      const seq = find(lines);
      if (seq !== undefined) return seq;
    }
    return 0;
  } finally {
    await handle.close();
  }
};

/**
 * Creates a function that receives lines, last line first. That function returns the seq of the last line with a seq, 0
 * to give up, or undefined to receive earlier lines.
 */
const createFinder = (): ((lines: readonly Line[]) => number | undefined) => {
  let searched = 0;
  return (lines) => {
    for (const { bytes } of lines) {
      const seq = readSeq(bytes);
      searched += bytes?.length ?? 0;
      if (seq > 0 || searched > searchedBytes) return seq;
    }
    return undefined;
  };
};
