/** An alert that failed and is tried again. */
export interface Failing {
  attempts: number;
  /** When it is due, in milliseconds of Unix time; so is the next. */
  nextAt: number;
  receivedAt: number;
}

/** An alert that was given up. */
export interface Parked {
  id: string;
  reason: string;
  /** When, RFC 3339. */
  time: string;
}

/** A line of the progress journal. A checkpoint has all parked alerts, other lines only changes since the line before. */
export interface ProgressLine {
  checkpoint?: true;
  start: number;
  cursor: number;
  settled: number[];
  failing: [seq: number, failing: Failing][];
  dropped: number;
  forgotten: number;
  parked: [seq: number, parked: Parked][];
  unparked: number[];
}

/** More parked alerts are forgotten, oldest first, and only counted. */
const mostParked = 10_000;

/**
 * What happened to the alerts of a destination, by their seq: every alert up to the cursor is settled, which means
 * delivered, parked, dropped or not for this destination.
 */
export class Progress {
  /** Alerts up to this one were there before the destination. */
  start: number;
  cursor: number;
  /** Settled alerts after the cursor. */
  readonly settled = new Set<number>();
  readonly failing = new Map<number, Failing>();
  readonly parked = new Map<number, Parked>();
  /** Alerts that retention deleted before they were looked at. */
  dropped = 0;
  /** Parked alerts beyond `mostParked`. */
  forgotten = 0;
  /** The last alert that was begun or skipped. */
  #position: number;
  readonly #begun = new Set<number>();
  #newlyParked: number[] = [];
  #unparked: number[] = [];

  constructor(cursor: number) {
    this.start = cursor;
    this.cursor = cursor;
    this.#position = cursor;
  }

  /** Forgets everything: the log does not reach as far as it did, so its seqs name other alerts now. */
  restart(cursor: number): void {
    for (const known of [this.settled, this.failing, this.parked, this.#begun]) known.clear();
    this.start = cursor;
    this.cursor = cursor;
    this.#position = cursor;
  }

  isSettled(seq: number): boolean {
    return seq <= this.cursor || this.settled.has(seq);
  }

  /** Marks every alert up to the seq as not to be delivered, unless it was begun before. */
  skipTo(seq: number): void {
    this.#position = Math.max(this.#position, seq);
    this.#moveCursor();
  }

  /** Everything up to the seq was read. Alerts that still fail are no longer in the log. */
  finish(seq: number): void {
    this.failing.clear();
    this.skipTo(seq);
  }

  begin(seq: number): void {
    this.#begun.add(seq);
    this.#position = Math.max(this.#position, seq);
  }

  /** The alert was delivered. */
  settle(seq: number): void {
    this.#begun.delete(seq);
    this.failing.delete(seq);
    if (seq > this.cursor) this.settled.add(seq);
    this.#moveCursor();
  }

  /** The alert is to be tried again. */
  fail(seq: number, failing: Failing): void {
    this.#begun.delete(seq);
    if (seq > this.cursor) this.failing.set(seq, failing);
  }

  park(seq: number, parked: Parked): void {
    // Retention has counted it as dropped.
    if (seq <= this.cursor) return;
    this.#addParked(seq, parked);
    this.#newlyParked.push(seq);
    this.settle(seq);
  }

  unpark(seq: number): void {
    if (this.parked.delete(seq)) this.#unparked.push(seq);
  }

  /** Retention has deleted the alerts up to the seq. */
  drop(seq: number): void {
    if (seq <= this.cursor) return;
    const known = [...this.settled].filter((one) => one <= seq);
    this.dropped += seq - this.cursor - known.length;
    for (const open of [this.#begun, this.failing])
      for (const one of [...open.keys()]) if (one <= seq) open.delete(one);
    this.cursor = seq;
    this.skipTo(seq);
  }

  /** What a new line has to say; changes of parked alerts count as written from then on. */
  takeLine(isCheckpoint: boolean): ProgressLine {
    const parked = isCheckpoint ? [...this.parked] : this.#newlyParked.flatMap((seq) => this.#entryOf(seq));
    const unparked = isCheckpoint ? [] : this.#unparked;
    this.#newlyParked = [];
    this.#unparked = [];
    const { start, cursor, dropped, forgotten } = this;
    const lists = { settled: [...this.settled], failing: [...this.failing], parked, unparked };
    return { ...(isCheckpoint && { checkpoint: true }), start, cursor, dropped, forgotten, ...lists };
  }

  /** Takes over a line that was read. */
  apply(line: ProgressLine): void {
    if (line.checkpoint) this.parked.clear();
    this.start = line.start;
    this.cursor = line.cursor;
    this.#position = line.cursor;
    this.dropped = line.dropped;
    this.settled.clear();
    for (const seq of line.settled) this.settled.add(seq);
    this.failing.clear();
    for (const [seq, failing] of line.failing) this.failing.set(seq, failing);
    for (const [seq, parked] of line.parked) this.#addParked(seq, parked);
    for (const seq of line.unparked) this.parked.delete(seq);
    this.forgotten = line.forgotten;
  }

  #entryOf(seq: number): [number, Parked][] {
    const parked = this.parked.get(seq);
    return parked ? [[seq, parked]] : [];
  }

  #addParked(seq: number, parked: Parked): void {
    this.parked.set(seq, parked);
    if (this.parked.size <= mostParked) return;
    const [oldest = seq] = this.parked.keys();
    this.parked.delete(oldest);
    this.forgotten += 1;
  }

  /** The cursor stays before what is begun or failing. */
  #moveCursor(): void {
    const held = Math.min(this.#position + 1, ...this.#begun, ...this.failing.keys());
    this.cursor = Math.max(this.cursor, held - 1);
    for (const seq of this.settled) if (seq <= this.cursor) this.settled.delete(seq);
  }
}
