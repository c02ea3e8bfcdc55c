/** What is known of an alert that was tried, or that waits again. */
export interface Tried {
  /** Failed attempts. */
  attempts: number;
  /** Set if it was parked, and an administrator has asked to send it again: its id, and when that was. */
  again?: { id: string; at: number };
}

/** An alert that was given up. */
export interface Parked {
  id: string;
  reason: string;
  /** When, RFC 3339. */
  time: string;
}

/** A spell in which a receiver accepts nothing. It lasts until a delivery, also across restarts. */
export interface FailingSpell {
  /** RFC 3339. */
  since: string;
  reason: string;
}

/** The last alert that was stored about this destination. */
export interface Notice {
  id: string;
  message: string;
  /** Unix milliseconds. */
  at: number;
  isResolved: boolean;
}

/** What is known of the receiver. */
export interface ReceiverMemory {
  failing?: FailingSpell;
  notice?: Notice;
  /** The receiver has asked for nothing before this time, in Unix milliseconds. */
  notBefore?: number;
}

/**
 * A line of the progress journal. A checkpoint says everything; other lines say what has changed since the line before.
 */
export interface ProgressLine {
  checkpoint?: true;
  start: number;
  /** In their order: `[first, last]` were settled, `[seq]` is to be sent again. */
  changes: number[][];
  tried: [seq: number, tried: Tried][];
  parked: [seq: number, parked: Parked][];
  unparked: number[];
  dropped: number;
  forgotten: number;
  receiver: ReceiverMemory;
  /** Missing in lines of earlier versions. */
  sent?: [id: string, at: number][];
}

/** A line of version 1.0. Each says everything but which alerts were parked before it. */
export interface EarlyLine {
  checkpoint?: true;
  start: number;
  cursor: number;
  settled: number[];
  failing: [seq: number, failing: { attempts: number }][];
  parked: [seq: number, parked: Parked][];
  unparked: number[];
  dropped: number;
  forgotten: number;
}

/** More parked alerts are forgotten, oldest first, and only counted. */
const mostParked = 10_000;

/** How many alerts that may come again are remembered. */
const mostSent = 10_000;

/** More alerts that were tried, parked or sent are in further lines, so that none is too long for the journal. */
const mostInLine = 2000;

/** What happened to the alerts of a destination, by their seq. Settled means delivered, parked, lost or not for it. */
export class Progress {
  /** Alerts up to this one were there before the destination. */
  start: number;
  readonly parked = new Map<number, Parked>();
  /** Alerts that were deleted before they were delivered or skipped. */
  dropped = 0;
  /** Parked alerts beyond `mostParked`. */
  forgotten = 0;
  receiver: ReceiverMemory = {};
  #settled: SeqRanges;
  readonly #tried = new Map<number, Tried>();
  /** When alerts that may come again were sent last, in Unix milliseconds, by the ids of their first records. */
  readonly #sent = new Map<string, number>();
  /** Changes since the last line. */
  #changes: number[][] = [];
  readonly #newlyTried = new Set<number>();
  #newlyParked: number[] = [];
  #unparked: number[] = [];
  readonly #newlySent = new Set<string>();

  constructor(start: number) {
    this.start = start;
    this.#settled = new SeqRanges(start);
  }

  /** Every alert up to this one is settled. */
  get cursor(): number {
    return this.#settled.start;
  }

  isSettled(seq: number): boolean {
    return this.#settled.has(seq);
  }

  /** The first alert after `seq` that is not settled. */
  nextOpen(seq: number): number {
    return this.#settled.nextMissing(seq);
  }

  /** How many alerts up to `seq` are not settled. */
  countOpen(seq: number): number {
    return this.#settled.countMissing(seq);
  }

  triedOf(seq: number): Tried | undefined {
    return this.#tried.get(seq);
  }

  /** Forgets everything: the log does not reach as far as it did, so its seqs name other alerts now. */
  restart(start: number): void {
    this.#reset(start);
    this.parked.clear();
  }

  settle(first: number, last = first): void {
    this.#apply([first, last]);
    const change = this.#changes.at(-1);
    if (change?.length === 2 && change[1] === first - 1) change[1] = last;
    else this.#changes.push([first, last]);
  }

  /** The alerts of the range are not in the log. Those that waited again were deleted meanwhile. */
  lose(first: number, last: number): void {
    for (const [seq, { again }] of this.#tried) if (again && first <= seq && seq <= last) this.dropped += 1;
    this.settle(first, last);
  }

  /** Retention has deleted the alerts up to the seq. */
  drop(seq: number): void {
    const open = this.countOpen(seq);
    if (open === 0) return;
    this.dropped += open;
    this.settle(0, seq);
  }

  setTried(seq: number, tried: Tried): void {
    if (this.isSettled(seq)) return;
    this.#tried.set(seq, tried);
    this.#newlyTried.add(seq);
  }

  park(seq: number, parked: Parked): void {
    // Retention has counted it as dropped.
    if (this.isSettled(seq)) return;
    this.#addParked(seq, parked);
    this.#newlyParked.push(seq);
    this.settle(seq);
  }

  unpark(seq: number): void {
    if (this.parked.delete(seq)) this.#unparked.push(seq);
  }

  /** All parked alerts wait again; returns their seqs. */
  unparkAll(now: number): number[] {
    const parked = [...this.parked];
    for (const [seq, { id }] of parked) {
      this.unpark(seq);
      this.#apply([seq]);
      this.#changes.push([seq]);
      this.setTried(seq, { attempts: 0, again: { id, at: now } });
    }
    return parked.map(([seq]) => seq);
  }

  sentAt(id: string): number | undefined {
    return this.#sent.get(id);
  }

  noteSent(id: string, at: number): void {
    this.#sent.delete(id);
    this.#sent.set(id, at);
    this.#newlySent.add(id);
    const [oldest] = this.#sent.keys();
    if (this.#sent.size > mostSent && oldest !== undefined) this.#sent.delete(oldest);
  }

  /** What new lines have to say, nearly always one; that counts as written from then on. */
  takeLines(isCheckpoint: boolean): ProgressLine[] {
    const parked = isCheckpoint ? [...this.parked] : entriesOf(this.parked, this.#newlyParked);
    const line: ProgressLine = {
      ...(isCheckpoint && { checkpoint: true }),
      start: this.start,
      changes: isCheckpoint ? this.#settled.list() : this.#changes,
      tried: isCheckpoint ? [...this.#tried] : entriesOf(this.#tried, this.#newlyTried),
      parked,
      unparked: isCheckpoint ? [] : this.#unparked,
      dropped: this.dropped,
      forgotten: this.forgotten,
      receiver: this.receiver,
      sent: isCheckpoint ? [...this.#sent] : entriesOf(this.#sent, this.#newlySent),
    };
    this.#newlySent.clear();
    this.#changes = [];
    this.#newlyTried.clear();
    this.#newlyParked = [];
    this.#unparked = [];
    return splitLine(line);
  }

  /** Takes over a line that was read. */
  apply(line: ProgressLine | EarlyLine): void {
    if (line.checkpoint) this.parked.clear();
    if ('cursor' in line) this.#applyEarly(line);
    else this.#applyChanges(line);
    // An alert that was parked, sent again and parked is in both lists.
    for (const seq of line.unparked) this.parked.delete(seq);
    for (const [seq, parked] of line.parked) this.#addParked(seq, parked);
    this.start = line.start;
    this.dropped = line.dropped;
    this.forgotten = line.forgotten;
  }

  #applyChanges({ checkpoint, changes, tried, receiver, sent = [] }: ProgressLine): void {
    if (checkpoint) this.#reset(changes[0]?.[1] ?? 0);
    for (const change of changes) this.#apply(change);
    for (const [seq, one] of tried) this.#tried.set(seq, one);
    this.receiver = receiver;
    for (const [id, at] of sent) this.noteSent(id, at);
    this.#newlySent.clear();
  }

  #applyEarly({ cursor, settled, failing }: EarlyLine): void {
    this.#reset(cursor);
    for (const seq of settled) this.#settled.add(seq);
    for (const [seq, { attempts }] of failing) this.#tried.set(seq, { attempts });
  }

  #reset(start: number): void {
    this.start = start;
    this.#settled = new SeqRanges(start);
    this.#tried.clear();
  }

  #apply([first = 0, last]: number[]): void {
    if (last === undefined) {
      this.#settled.remove(first);
      return;
    }
    this.#settled.add(first, last);
    if (first === last) this.#tried.delete(first);
    else for (const seq of this.#tried.keys()) if (first <= seq && seq <= last) this.#tried.delete(seq);
  }

  #addParked(seq: number, parked: Parked): void {
    this.parked.set(seq, parked);
    if (this.parked.size <= mostParked) return;
    const [oldest = seq] = this.parked.keys();
    this.parked.delete(oldest);
    this.forgotten += 1;
  }
}

/** The line as several: only the first is a checkpoint, and the others add what was tried and parked. */
const splitLine = ({
  checkpoint,
  changes,
  tried,
  parked,
  unparked,
  sent = [],
  ...state
}: ProgressLine): ProgressLine[] => {
  const count = Math.max(1, Math.ceil(Math.max(tried.length, parked.length, sent.length) / mostInLine));
  return Array.from({ length: count }, (_, n) => {
    const [from, to] = [n * mostInLine, (n + 1) * mostInLine];
    const lists = { tried: tried.slice(from, to), parked: parked.slice(from, to), sent: sent.slice(from, to) };
    if (n > 0) return { ...state, changes: [], unparked: [], ...lists };
    return { ...(checkpoint && { checkpoint }), ...state, changes, unparked, ...lists };
  });
};

const entriesOf = <K, T>(map: ReadonlyMap<K, T>, keys: Iterable<K>): [K, T][] =>
  [...keys].flatMap((key) => {
    const value = map.get(key);
    return value === undefined ? [] : [[key, value] as [K, T]];
  });

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
