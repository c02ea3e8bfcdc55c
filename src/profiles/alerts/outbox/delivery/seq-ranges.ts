type Range = [first: number, last: number];

/** A set of the numbers from 0 on, kept as ranges: little, where nearly all numbers up to some point are in it. */
export class SeqRanges {
  /** Rising, with at least one number between them. The first one begins at 0. */
  #ranges: Range[];

  /** All numbers up to `last`. */
  constructor(last: number) {
    this.#ranges = [[0, last]];
  }

  /** The last number before the first one that is missing. */
  get start(): number {
    return this.#at(0)[1];
  }

  has(seq: number): boolean {
    const [first, last] = this.#at(this.#find(seq));
    return first <= seq && seq <= last;
  }

  add(first: number, last = first): void {
    let from = this.#find(first);
    if (this.#at(from)[1] < first - 1) from += 1;
    const merged: Range = [first, last];
    let until = from;
    for (; until < this.#ranges.length && this.#at(until)[0] <= last + 1; until += 1) {
      const [start, end] = this.#at(until);
      merged[0] = Math.min(merged[0], start);
      merged[1] = Math.max(merged[1], end);
    }
    this.#ranges.splice(from, until - from, merged);
  }

  /** Removes one number, which is not 0. */
  remove(seq: number): void {
    const index = this.#find(seq);
    const [first, last] = this.#at(index);
    if (seq > last) return;
    const parts: Range[] = [
      [first, seq - 1],
      [seq + 1, last],
    ];
    this.#ranges.splice(index, 1, ...parts.filter(([start, end]) => start <= end));
  }

  /** The first number after `seq` that is missing. */
  nextMissing(seq: number): number {
    const next = seq + 1;
    const [first, last] = this.#at(this.#find(next));
    return first <= next && next <= last ? last + 1 : next;
  }

  /** How many numbers up to `seq` are missing. */
  countMissing(seq: number): number {
    let missing = seq + 1;
    for (const [first, last] of this.#ranges) {
      if (first > seq) break;
      missing -= Math.min(last, seq) - first + 1;
    }
    return missing;
  }

  list(): Range[] {
    return this.#ranges.map(([first, last]) => [first, last]);
  }

  /** The index of the last range that begins at the number or before it. */
  #find(seq: number): number {
    let low = 0;
    let high = this.#ranges.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.#at(middle)[0] <= seq) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #at(index: number): Range {
    return this.#ranges[index] as Range;
  }
}
