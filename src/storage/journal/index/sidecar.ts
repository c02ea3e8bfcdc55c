import { lstat, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import type { ReadAt } from '../read/backwards.ts';
import type { Block } from './block.ts';
import { FileIndex } from './file-index.ts';
import { Keys } from './keys.ts';

const version = 1;
/** Larger ones are neither written nor read. */
const largestBytes = 16 * 1024 * 1024;
const checkedBytes = 4096;

interface Content {
  version: number;
  /** Size of the segment, and a checksum of its end: the sidecar of another segment is not taken for its own. */
  bytes: number;
  check: number;
  keys: string[];
  blocks: number[][];
}

/** The index in a sidecar file, and the file's size; undefined where it does not fit the segment or cannot be read. */
export const readSidecar = async (
  path: string,
  read: ReadAt,
  segmentBytes: number,
): Promise<{ index: FileIndex; bytes: number } | undefined> => {
  try {
    const { size } = await lstat(path).then((found) => (found.isFile() ? found : { size: Number.POSITIVE_INFINITY }));
    if (size > largestBytes) return undefined;
    const text = await readFile(path, 'utf8');
    const json = text.slice(9);
    if (text.slice(0, 9) !== toChecksum(json)) return undefined;
    const content: Content = JSON.parse(json);
    const isOwn = content.version === version && content.bytes === segmentBytes;
    if (!isOwn || content.check !== (await readCheck(read, segmentBytes))) return undefined;
    const index = new FileIndex(new Keys(content.keys), content.blocks.map(toBlock));
    return index.isComplete(segmentBytes) ? { index, bytes: size } : undefined;
  } catch {
    // It is built again.
    return undefined;
  }
};

/** Writes the sidecar file of a segment. Where that fails, the next process builds the index again. */
export const writeSidecar = async (
  path: string,
  read: ReadAt,
  segmentBytes: number,
  index: FileIndex,
): Promise<void> => {
  const temporary = `${path}.tmp`;
  try {
    const content: Content = {
      version,
      bytes: segmentBytes,
      check: await readCheck(read, segmentBytes),
      keys: [...index.keys.names],
      blocks: index.blocks.map(toNumbers),
    };
    const json = JSON.stringify(content);
    if (json.length > largestBytes) return;
    await writeFile(temporary, toChecksum(json) + json, { mode: 0o600 });
    await rename(temporary, path);
  } catch {
    await unlink(temporary).catch(() => undefined);
  }
};

const toChecksum = (json: string): string => `${crc32(json).toString(16).padStart(8, '0')}\n`;

const readCheck = async (read: ReadAt, end: number): Promise<number> => {
  const buffer = Buffer.alloc(Math.min(checkedBytes, end));
  await read(buffer, end - buffer.length);
  return crc32(buffer);
};

const toNumbers = ({ start, end, seqs, times, idTimes, hasOldIds, counts }: Block): number[] => [
  ...[start, end, seqs.min, seqs.max, times.min, times.max, idTimes.min, idTimes.max, Number(hasOldIds)],
  ...[...counts].flat(),
];

const toBlock = (numbers: number[]): Block => {
  if (numbers.length < 9 || !numbers.every(Number.isSafeInteger)) throw new Error('not a block');
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
