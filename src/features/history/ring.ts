import { hostColumns, severityNames } from '../../kit/machine.ts';
import type { ReplacedFile } from '../../storage/replaced-file.ts';

/** Maximum number of file systems in the history. */
export const maxDisks = 8;

/**
 * Indexes of the first alert column and of the first disk column. Disk columns alternate between used and total bytes.
 */
export const alertsAt = hostColumns.length;
export const disksAt = alertsAt + severityNames.length;

export const columnCount = disksAt + 2 * maxDisks;

/** Ring buffer with a row of numbers for each of the last `size` steps. NaN stands for unknown. */
export class Ring {
  /** Length of a step in seconds. */
  readonly step: number;
  readonly size: number;
  /** Unix time of the row in each slot: a multiple of the step, or 0 for an empty slot. */
  readonly #times: Uint32Array;
  /** Values, column by column. */
  readonly #values: Float32Array;
  readonly #bytes: Uint8Array;

  constructor(step: number, size: number) {
    this.step = step;
    this.size = size;
    const memory = new ArrayBuffer(4 * size * (1 + columnCount));
    this.#bytes = new Uint8Array(memory);
    this.#times = new Uint32Array(memory, 0, size);
    this.#values = new Float32Array(memory, 4 * size);
  }

  /** Returns the start of the step that contains a time. */
  align(time: number): number {
    return time - (time % this.step);
  }

  /** Stores the row of the step that contains a time. */
  set(time: number, row: ArrayLike<number>): void {
    const start = this.align(time);
    const slot = (start / this.step) % this.size;
    this.#times[slot] = start;
    for (let column = 0; column < columnCount; column += 1)
      this.#values[column * this.size + slot] = row[column] ?? NaN;
  }

  /** Returns the row of the step that contains a time. Undefined if there is none. */
  read(time: number): number[] | undefined {
    const start = this.align(time);
    if (!this.#has(start)) return undefined;
    const slot = (start / this.step) % this.size;
    return Array.from({ length: columnCount }, (_, column) => this.#values[column * this.size + slot] as number);
  }

  /** Returns the first and the last step between `since` and `now` that have a row. Undefined if none has. */
  findRange(since: number, now: number): { from: number; to: number } | undefined {
    const last = this.align(now);
    const oldest = Math.max(last - (this.size - 1) * this.step, this.align(since + this.step - 1));
    let from = oldest;
    while (from <= last && !this.#has(from)) from += this.step;
    let to = last;
    while (to >= from && !this.#has(to)) to -= this.step;
    return from <= to ? { from, to } : undefined;
  }

  #has(time: number): boolean {
    return this.#times[(time / this.step) % this.size] === time;
  }

  /** Yields the values of a column. `from` and `to` are both inclusive. */
  *list(column: number, from: number, to: number): Generator<number> {
    for (let time = from; time <= to; time += this.step) {
      const slot = (time / this.step) % this.size;
      yield this.#times[slot] === time ? (this.#values[column * this.size + slot] as number) : NaN;
    }
  }

  /** Returns the time of the last step up to `now` that has a value in the column. 0 if there is none. */
  findLast(column: number, now: number): number {
    const oldest = this.align(now) - (this.size - 1) * this.step;
    let last = 0;
    for (const [slot, time] of this.#times.entries()) {
      if (time < oldest || time > now || time <= last) continue;
      if (!Number.isNaN(this.#values[column * this.size + slot])) last = time;
    }
    return last;
  }

  /** Sets all values of a column to unknown. */
  clear(column: number): void {
    this.#values.fill(Number.NaN, column * this.size, (column + 1) * this.size);
  }

  /** Returns the contents for a file. `load` restores them. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  load(bytes: Uint8Array): void {
    this.#bytes.set(bytes);
  }
}

/** Combines several rows into one, with the means of measurements and the sums of alerts. */
export const createSums = () => {
  const sums = new Float64Array(columnCount);
  const counts = new Float64Array(columnCount);
  let rows = 0;
  return {
    get isEmpty(): boolean {
      return rows === 0;
    },
    add: (row: ArrayLike<number>): void => {
      rows += 1;
      for (let column = 0; column < columnCount; column += 1) {
        const value = row[column] as number;
        if (Number.isNaN(value)) continue;
        sums[column] = (sums[column] as number) + value;
        counts[column] = (counts[column] as number) + 1;
      }
    },
    /** Returns the combined row and resets the sums. */
    take: (): Float64Array => {
      const row = sums.map((sum, column) => {
        if (column >= alertsAt && column < disksAt) return sum;
        return sum / (counts[column] as number);
      });
      sums.fill(0);
      counts.fill(0);
      rows = 0;
      return row;
    },
  };
};

/** Combines the rows from `from` to `to`, both inclusive, into steps of the given length in seconds. */
export const toLongerSteps = (
  ring: Ring,
  seconds: number,
  { from, to }: { from: number; to: number },
): { ring: Ring; from: number; to: number } => {
  const longer = new Ring(seconds, Math.floor(to / seconds) - Math.floor(from / seconds) + 1);
  const sums = createSums();
  for (let time = from; time <= to; time += ring.step) {
    const row = ring.read(time);
    if (row) sums.add(row);
    const isLast = time + ring.step > to || longer.align(time + ring.step) !== longer.align(time);
    if (isLast && !sums.isEmpty) longer.set(time, sums.take());
  }
  return { ring: longer, from: longer.align(from), to: longer.align(to) };
};

/** First part of the file. The number changes whenever the columns change. */
const magic = 'signalbox history 2';

/**
 * First part of an older file. It has one more column after the severities, for alerts with unknown levels. Such alerts
 * now count as warnings.
 */
const formerMagic = 'signalbox history 1';

/** Mount paths of the disks in column order. Empty for free columns. */
export type Disks = string[];

/** Size of the header in bytes. The header is padded to align the numbers that follow. */
const headerBytes = 4096;

/** Writes the rings and the disks' mount paths. */
export const saveHistory = (file: ReplacedFile, rings: readonly Ring[], disks: Disks): Promise<void> => {
  const header = Buffer.alloc(headerBytes, ' ');
  // Mount paths that do not fit into the header are not saved.
  const text = JSON.stringify({ magic, disks });
  header.write(Buffer.byteLength(text) < headerBytes ? text : JSON.stringify({ magic, disks: [] }));
  return file.write(Buffer.concat([header, ...rings.map(({ bytes }) => bytes)]));
};

/**
 * Fills the rings from the file and returns the mount paths of the disks. Ignores a file with another format or size.
 */
export const loadHistory = async (file: ReplacedFile, rings: readonly Ring[]): Promise<Disks> => {
  const bytes = await file.read();
  const header = bytes && parseHeader(bytes.toString('utf8', 0, headerBytes));
  if (!header) return [];
  const isFormer = header.magic === formerMagic;
  const sizeOf = (ring: Ring): number => ring.bytes.length + (isFormer ? columnBytes(ring) : 0);
  if (bytes.length !== rings.reduce((sum, ring) => sum + sizeOf(ring), headerBytes)) return [];
  let at = headerBytes;
  for (const ring of rings) {
    const own = bytes.subarray(at, at + sizeOf(ring));
    ring.load(isFormer ? dropUnknownLevels(own, columnBytes(ring)) : own);
    at += own.length;
  }
  return header.disks;
};

const parseHeader = (text: string): { magic: string; disks: Disks } | undefined => {
  try {
    const { magic: found, disks } = JSON.parse(text) as { magic?: unknown; disks?: unknown };
    return (found === magic || found === formerMagic) &&
      Array.isArray(disks) &&
      disks.length <= maxDisks &&
      disks.every((disk) => typeof disk === 'string')
      ? { magic: found, disks }
      : undefined;
  } catch {
    return undefined;
  }
};

/** Returns the bytes of one column. The first column contains the times. */
const columnBytes = ({ bytes }: Ring): number => bytes.length / (1 + columnCount);

/** Converts a ring of the older format by adding the column of unknown levels to the warnings. */
const dropUnknownLevels = (former: Buffer, length: number): Uint8Array => {
  const columnAt = (column: number): number => (1 + column) * length;
  const [warning, unknown] = [
    columnAt(alertsAt + severityNames.indexOf('warning')),
    columnAt(alertsAt + severityNames.length),
  ];
  const columns = Buffer.concat([former.subarray(0, unknown), former.subarray(unknown + length)]);
  for (let at = 0; at < length; at += Float32Array.BYTES_PER_ELEMENT) {
    const sum = former.readFloatLE(warning + at) + former.readFloatLE(unknown + at);
    if (!Number.isNaN(sum)) columns.writeFloatLE(sum, warning + at);
  }
  return columns;
};
