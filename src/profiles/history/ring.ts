import { columnCount } from './columns.ts';

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
