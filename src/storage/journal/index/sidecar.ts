import { lstat, open, rename, unlink, writeFile } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { MiB } from '../../../lib/units.ts';
import { type ReadAt, toReadAt } from '../read/lines.ts';
import { type Counted, FileIndex, type IndexBlock, IndexedNames, Minutes, type Ranges } from './file-index.ts';

const version = 2;

/** Maximum size in bytes of a sidecar that is written or read. */
const maxBytes = 16 * MiB;

/** Number of bytes at the end of the indexed part that identify a file. */
const checkedBytes = 4096;

/** First part of a sidecar. It suffices to skip a segment, or to count its records, without reading the blocks. */
interface Head {
  version: number;
  /** Size of the indexed part, and a checksum of its end. They reveal a sidecar that belongs to another file. */
  bytes: number;
  check: number;
  ranges: Ranges;
  keys: readonly string[];
  minutes: number[][];
}

/** File of the log, and the number of its readable bytes. */
interface IndexedBytes {
  read: ReadAt;
  size: number;
  /** True if the file may have grown since its sidecar was written. */
  isGrowing?: boolean;
}

/** Index of a file of the log, stored in a file next to it. */
export interface Sidecar {
  ranges: Ranges;
  counted: Counted;
  /** Number of bytes read for the head. */
  bytes: number;
  /** Reads the blocks. Undefined if they are damaged or incomplete. */
  loadBlocks(): Promise<{ index: FileIndex; bytes: number } | undefined>;
}

/** Reads the head of a sidecar. Undefined if it does not match the file or cannot be read. */
export const readSidecar = async (
  path: string,
  { read, size, isGrowing = false }: IndexedBytes,
): Promise<Sidecar | undefined> => {
  const head = await readPart(path, 0);
  if (!head) return undefined;
  const { version: written, bytes, check, ranges, keys, minutes } = head.content as Head;
  const isPossible = written === version && (isGrowing ? bytes <= size : bytes === size);
  if (!isPossible || check !== (await readCheck(read, bytes))) return undefined;
  const counted = { minutes: new Minutes(minutes), keys: new IndexedNames(keys) };
  const loadBlocks: Sidecar['loadBlocks'] = async () => {
    const blocks = await readPart(path, head.end);
    if (!blocks) return undefined;
    const index = new FileIndex(counted, (blocks.content as number[][]).map(toBlock));
    return index.isComplete(bytes) ? { index, bytes: blocks.end - head.end } : undefined;
  };
  return { ranges, counted, bytes: head.end, loadBlocks };
};

/** Writes the sidecar of the first `bytes` of a file. If writing fails, the next process rebuilds the index. */
export const writeSidecar = async (path: string, read: ReadAt, bytes: number, index: FileIndex): Promise<void> => {
  const temporary = `${path}.tmp`;
  try {
    const check = await readCheck(read, bytes);
    // Another reader may have added blocks in the meantime. The next save includes them.
    if (index.end !== bytes) return;
    const { keys, minutes, ranges, blocks } = index;
    const head: Head = { version, bytes, check, ranges, keys: keys.names, minutes: minutes.list() };
    const content = Buffer.concat([toPart(head), toPart(blocks.map(toNumbers))]);
    if (content.length > maxBytes) return;
    await writeFile(temporary, content, { mode: 0o600 });
    await rename(temporary, path);
  } catch {
    await unlink(temporary).catch(() => undefined);
  }
};

/**
 * Length of the line before a part. The line contains the checksum and the length in bytes of the part: `0123abcd
 * 00001234\n`.
 */
const prefixBytes = 18;

/** Encodes a part of a sidecar: a line with checksum and length, then JSON and a line break. */
const toPart = (content: unknown): Buffer => {
  const json = Buffer.from(`${JSON.stringify(content)}\n`);
  const [check, length] = [crc32(json), json.length].map((value) => value.toString(16).padStart(8, '0'));
  return Buffer.concat([Buffer.from(`${check} ${length}\n`), json]);
};

/** Reads the part at an offset. Undefined if the part is missing or damaged. */
const readPart = async (path: string, start: number): Promise<{ content: unknown; end: number } | undefined> => {
  try {
    // Opening anything but a regular file, such as a pipe, could block.
    if (!(await lstat(path)).isFile()) return undefined;
    const file = await open(path, 'r');
    try {
      const json = await readChecked(toReadAt(file), start);
      return json && { content: JSON.parse(json.toString()), end: start + prefixBytes + json.length };
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
};

const readChecked = async (readAt: ReadAt, start: number): Promise<Buffer | undefined> => {
  const prefix = Buffer.alloc(prefixBytes);
  await readAt(prefix, start);
  const [check, length = Number.NaN] = prefix
    .toString('latin1')
    .split(' ', 2)
    .map((text) => Number.parseInt(text, 16));
  if (!(length <= maxBytes)) return undefined;
  const json = Buffer.alloc(length);
  await readAt(json, start + prefixBytes);
  return crc32(json) === check ? json : undefined;
};

const readCheck = async (read: ReadAt, end: number): Promise<number> => {
  const buffer = Buffer.alloc(Math.min(checkedBytes, end));
  await read(buffer, end - buffer.length);
  return crc32(buffer);
};

const toNumbers = ({ start, end, seqs, times, idTimes, hasOldIds, counts }: IndexBlock): number[] => [
  ...[start, end, seqs.min, seqs.max, times.min, times.max, idTimes.min, idTimes.max, Number(hasOldIds)],
  ...[...counts].flat(),
];

const toBlock = (numbers: number[]): IndexBlock => {
  const [start = 0, end = 0, seqMin = 0, seqMax = 0, timeMin = 0, timeMax = 0, idMin = 0, idMax = 0, old] = numbers;
  const counts = new Map<number, number>();
  for (let at = 9; at + 1 < numbers.length; at += 2) counts.set(numbers[at] ?? 0, numbers[at + 1] ?? 0);
  return {
    start,
    end,
    seqs: { min: seqMin, max: seqMax },
    times: { min: timeMin, max: timeMax },
    idTimes: { min: idMin, max: idMax },
    hasOldIds: old === 1,
    counts,
  };
};
