import { hostColumns, severityNames } from '../../kit/machine.ts';
import type { ReplacedFile } from '../../storage/replaced-file.ts';

/** File systems that are kept; a machine with more disks shows the first ones. */
export const mostColumnsOfDisks = 8;

/** The first column of the alerts, and of the disks: used and total bytes in turn. */
export const alertsAt = hostColumns.length;
export const disksAt = alertsAt + severityNames.length;

export const columnCount = disksAt + 2 * mostColumnsOfDisks;

/** Rows of numbers for the last `size` steps of time, in arrays that are allocated once. NaN stands for unknown. */
export class Ring {
  /** Seconds. */
  readonly step: number;
  readonly size: number;
  /** Unix time of the row in each slot, a multiple of the step; 0 for none. */
  readonly #times: Uint32Array;
  /** Column by column. */
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

  /** The beginning of the step that the time is in. */
  align(time: number): number {
    return time - (time % this.step);
  }

  /** Stores the row of the step that the time is in. */
  set(time: number, row: ArrayLike<number>): void {
    const start = this.align(time);
    const slot = (start / this.step) % this.size;
    this.#times[slot] = start;
    for (let column = 0; column < columnCount; column += 1)
      this.#values[column * this.size + slot] = row[column] ?? NaN;
  }

  /** The row of a step; undefined if there is none. */
  read(time: number): number[] | undefined {
    const start = this.align(time);
    if (!this.#has(start)) return undefined;
    const slot = (start / this.step) % this.size;
    return Array.from({ length: columnCount }, (_, column) => this.#values[column * this.size + slot] as number);
  }

  /** The first and the last step from `since` to `now` that have a row; undefined if none has. */
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

  /** The values of a column from one step to another, both included. */
  *list(column: number, from: number, to: number): Generator<number> {
    for (let time = from; time <= to; time += this.step) {
      const slot = (time / this.step) % this.size;
      yield this.#times[slot] === time ? (this.#values[column * this.size + slot] as number) : NaN;
    }
  }

  /** The time of the last step up to `now` that has a value in the column; 0 if none has. */
  findLast(column: number, now: number): number {
    const oldest = this.align(now) - (this.size - 1) * this.step;
    let last = 0;
    for (const [slot, time] of this.#times.entries()) {
      if (time < oldest || time > now || time <= last) continue;
      if (!Number.isNaN(this.#values[column * this.size + slot])) last = time;
    }
    return last;
  }

  /** Makes all values of a column unknown. */
  clear(column: number): void {
    this.#values.fill(Number.NaN, column * this.size, (column + 1) * this.size);
  }

  /** Everything in it, for a file; `load` takes it back. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  load(bytes: Uint8Array): void {
    this.#bytes.set(bytes);
  }
}

/** Adds up rows: takes means of measurements and sums of alerts. */
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
    /** The row of all added ones; begins again. */
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

/** The rows of a ring from one time to another, both included, in steps of so many seconds. */
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

/** Begins the file; its number changes with the columns. */
const magic = 'signalbox history 2';

/** The same with one more column, after those of the severities: alerts with unknown levels, which are warnings now. */
const formerMagic = 'signalbox history 1';

/** Names of the disks in the order of their columns; an empty one is that of columns that are free. */
export type Disks = string[];

/** Bytes of the first line, which is padded, so that the numbers that follow are aligned. */
const headerBytes = 4096;

/** Writes the rings and the names of the disks. */
export const saveHistory = (file: ReplacedFile, rings: readonly Ring[], disks: Disks): Promise<void> => {
  const header = Buffer.alloc(headerBytes, ' ');
  // Mount paths that are longer together than the header has room for are not worth keeping.
  const text = JSON.stringify({ magic, disks });
  header.write(Buffer.byteLength(text) < headerBytes ? text : JSON.stringify({ magic, disks: [] }));
  return file.write(Buffer.concat([header, ...rings.map(({ bytes }) => bytes)]));
};

/** Fills the rings from the file and returns the names of the disks. A file that does not fit is ignored. */
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
      disks.length <= mostColumnsOfDisks &&
      disks.every((disk) => typeof disk === 'string')
      ? { magic: found, disks }
      : undefined;
  } catch {
    return undefined;
  }
};

/** Bytes of one column of a ring, whose first one has the times. */
const columnBytes = ({ bytes }: Ring): number => bytes.length / (1 + columnCount);

/** The columns of a former ring without that of unknown levels, which are added to the warnings. */
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
