import { type FileHandle, open } from 'node:fs/promises';
import { JournalError, passIfGone } from '../errors.ts';
import { classifyLine, parseRecord } from '../line.ts';
import type { Serially } from '../scheduling.ts';
import { type Line, type ReadAt, readLinesBackwards, toReadAt } from './lines.ts';

/** The files of the log at one moment. */
export interface Snapshot {
  /** The file that is written to, of which `size` bytes may be read. To be released. */
  active: { handle: FileHandle; retain(): void; release(): Promise<void> };
  size: number;
  /** Paths of the closed segments, newest first. */
  closed: readonly string[];
}

export interface Log {
  takeSnapshot(): Snapshot;
  /** Steps of all readers run one by one. */
  readSerially: Serially;
  /** To be called with the active file and its new path when it is closed. */
  onClosed(listener: (active: Snapshot['active'], path: string) => void): void;
}

/** A file of the log that can be read again later. */
export interface LogFile {
  /** Works while the file is held; rejects if a closed file was deleted. */
  read: ReadAt;
  hold(): void;
  release(): Promise<void>;
}

/** A file of the log while it is open. */
export interface OpenFile {
  /** The path of a closed file; what the snapshot has of the active one. */
  identity: string | Snapshot['active'];
  file: LogFile;
  read: ReadAt;
  /** How many of its bytes may be read. */
  end: number;
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

/**
 * Newest first. A closed file is open only while it is read: a reader that waits for its client has none open. Those that
 * `isWanted` turns down are not opened.
 */
export async function* openFiles(log: Log, isWanted = (_path: string) => true): AsyncGenerator<OpenFile> {
  const { active, size, closed } = log.takeSnapshot();
  try {
    yield toOpenFile(log, active, size);
  } finally {
    await active.release();
  }
  for (const path of closed) {
    if (isWanted(path)) yield* openClosed(log, path);
  }
}

/** The files, oldest first, without the closed ones that `isWanted` turns down. */
export async function* openFilesForward(log: Log, isWanted: (path: string) => boolean): AsyncGenerator<OpenFile> {
  const { active, size, closed } = log.takeSnapshot();
  try {
    for (const path of [...closed].reverse()) {
      if (isWanted(path)) yield* openClosed(log, path);
    }
    yield toOpenFile(log, active, size);
  } finally {
    await active.release();
  }
}

const toOpenFile = (log: Log, active: Snapshot['active'], end: number): OpenFile => {
  const read = inTurn(log, toReadAt(active.handle));
  return { identity: active, file: { read, hold: active.retain, release: active.release }, read, end };
};

/** Yields the file unless it is gone: retention, or a person, may delete a segment at any time. */
export async function* openClosed(log: Log, path: string): AsyncGenerator<OpenFile> {
  const handle = await open(path, 'r').catch(passIfGone);
  if (!handle) return;
  const file = { read: inTurn(log, createReadByPath(path)), hold: () => undefined, release: async () => undefined };
  try {
    yield { identity: path, file, read: inTurn(log, toReadAt(handle)), end: (await handle.stat()).size };
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

/** The search ends after this many bytes of lines without a seq, which another program must have written. */
const searchedBytes = 4 * 1024 * 1024;

/** The last seq in the log; 0 if there is none. */
export const findLastSeq = async (log: Log, maxLineBytes: number): Promise<number> => {
  const find = createFinder();
  for await (const { lines } of readLogBackwards(log, maxLineBytes)) {
    const seq = find(lines);
    if (seq !== undefined) return seq;
  }
  return 0;
};

/** The last seq in a closed segment, 0 where it holds none. */
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

/** To be called with lines, last one first, until it returns a seq, or 0 where it gives up. */
const createFinder = (): ((lines: Iterable<Line>) => number | undefined) => {
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

const readSeq = (line: Buffer | undefined): number => {
  const kind = classifyLine(line);
  const isNumbered = line !== undefined && (kind === 'own' || kind === 'mark');
  return isNumbered ? Number(parseRecord(line)['seq'] ?? 0) : 0;
};
