import { type FileHandle, open } from 'node:fs/promises';
import type { Serially } from '../../scheduling.ts';
import { JournalError, passIfGone } from '../errors.ts';
import { classifyLine, parseRecord } from '../line.ts';
import { type Line, type ReadAt, readLinesBackwards, toReadAt } from './lines.ts';

/** The files of the log at one moment. */
export interface LogFiles {
  /** The file that is written to, of which `size` bytes may be read. To be released. */
  active: { handle: FileHandle; retain(): void; release(): Promise<void> };
  size: number;
  /** Paths of the closed segments, newest first. */
  closed: readonly string[];
}

export interface Log {
  takeSnapshot(): LogFiles;
  /** Steps of all readers run one by one. */
  readSerially: Serially;
  /** To be called with the active file and its new path when it is closed. */
  onClosed(listener: (active: LogFiles['active'], path: string) => void): void;
}

/** A file of the log while it is open. */
export interface LogFile {
  /** The path of a closed file; what the log has of the active one. */
  identity: string | LogFiles['active'];
  read: ReadAt;
  /** How many of its bytes may be read. */
  end: number;
  /** Makes `readLater` work after the file is closed, until it is released; that rejects if a closed file was deleted. */
  hold(): void;
  readLater: ReadAt;
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
  for await (const file of openLogFiles(log)) {
    for await (const lines of readLinesBackwards(limit(file.read), file.end, maxLineBytes)) yield { file, lines };
  }
}

/**
 * The files, newest or oldest first. A closed file is open only while it is read: a reader that waits for its client has none
 * open. Those that `isWanted` turns down are not opened.
 */
export async function* openLogFiles(
  log: Log,
  isWanted = (_path: string) => true,
  { oldestFirst = false } = {},
): AsyncGenerator<LogFile> {
  const { active, size, closed } = log.takeSnapshot();
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

/** Yields the file unless it is gone: retention, or a person, may delete a segment at any time. */
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
