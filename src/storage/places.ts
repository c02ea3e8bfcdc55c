import { bisect } from '../lib/bisect.ts';

/** Seq and place of a record whose seq does not directly follow the previous one. */
interface RunStart {
  seq: number;
  place: number;
}

/** Places of the exported records of a log, counted from 1. Takes little memory, because most seqs are consecutive. */
export class Places {
  readonly #starts: RunStart[] = [];
  #lastSeq = 0;
  #count = 0;

  /** Adds the next record. */
  add(seq: number): void {
    this.#count += 1;
    if (seq !== this.#lastSeq + 1 || this.#count === 1) this.#starts.push({ seq, place: this.#count });
    this.#lastSeq = seq;
  }

  /** Returns the place of the last record whose seq is at most `seq`. 0 if there is none. */
  until(seq: number): number {
    const next = bisect(this.#starts, (start) => start.seq <= seq);
    const start = this.#starts[next - 1];
    if (!start) return 0;
    const end = this.#starts[next]?.place ?? this.#count + 1;
    return Math.min(start.place + seq - start.seq, end - 1);
  }

  /**
   * Returns the place of the first record whose seq is at least `seq`. If there is none, returns the number after the
   * last place.
   */
  from(seq: number): number {
    return this.until(seq - 1) + 1;
  }
}
