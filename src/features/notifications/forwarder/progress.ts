import type { StoredHealth } from '../queue/receiver-health.ts';

/** Maximum number of given-up alerts. Older given-up alerts are only counted. */
const mostGivenUp = 10_000;

/** Maximum number of alerts whose last delivery time is stored. */
const mostSent = 10_000;

/** Alert that has been read but is not settled. */
export interface OpenAlert {
  /** Number of failed attempts. */
  attempts: number;
  /** Set if an administrator has requested the given-up alert again. `at` is in Unix milliseconds. */
  again?: { id: string; at: number };
}

/** Alert that the forwarder has given up. */
export interface GivenUp {
  id: string;
  reason: string;
  /** Time at which the alert was given up, RFC 3339. */
  time: string;
}

/**
 * Progress of a destination in the alert log, by seq. An alert is settled once it has been delivered, given up, lost or
 * skipped.
 */
export class DeliveryProgress {
  /** Seq of the last alert that was stored before the destination existed. */
  start: number;
  /** Seq of the last alert that has been read. Alerts up to it are settled, except those in `open`. */
  position: number;
  readonly open = new Map<number, OpenAlert>();
  /** Alerts that an administrator sent before the log reader reached them. */
  readonly early = new Set<number>();
  readonly parked = new Map<number, GivenUp>();
  /** Number of alerts that were deleted before they were delivered or skipped. */
  dropped = 0;
  /** Number of given-up alerts beyond `mostGivenUp`. */
  forgotten = 0;
  receiver: StoredHealth = {};
  /** True if the destination gets incidents instead of alerts. */
  isOfIncidents = false;
  /** Time at which the runtime setting was created. Null for the config file, undefined in a file of version 1.0. */
  madeAt: number | null | undefined;
  /** Times at which repeated alerts were last delivered, in Unix milliseconds, by the id of the first alert. */
  readonly sent = new Map<string, number>();

  constructor(start: number) {
    this.start = start;
    this.position = start;
  }

  /** Seq up to which all alerts are settled. */
  get cursor(): number {
    let first = this.position + 1;
    for (const seq of this.open.keys()) first = Math.min(first, seq);
    return first - 1;
  }

  /** Number of given-up alerts, including alerts that are only counted. */
  get givenUpCount(): number {
    return this.parked.size + this.forgotten;
  }

  isSettled(seq: number): boolean {
    return seq <= this.position ? !this.open.has(seq) : this.early.has(seq);
  }

  /** Counts the unsettled alerts in a log that ends with `stored`. */
  countOpen(stored: number): number {
    return Math.max(0, stored - this.position) + this.open.size - this.early.size;
  }

  /** Advances the position to an alert. Returns true if the alert is open. Alerts in between are not in the log. */
  advance(seq: number, isWanted: boolean): boolean {
    this.position = Math.max(this.position, seq);
    const isOpen = isWanted && !this.early.has(seq);
    if (isOpen) this.open.set(seq, { attempts: 0 });
    for (const one of this.early) if (one <= seq) this.early.delete(one);
    return isOpen;
  }

  /** Settles all alerts whose seq is at most `seq`. */
  skipTo(seq: number): void {
    this.open.clear();
    this.early.clear();
    this.position = Math.max(this.position, seq);
  }

  /** Starts over after this seq. Used for a new destination with the name of a removed destination. */
  restart(start: number): void {
    for (const one of [this.open, this.early, this.parked, this.sent]) one.clear();
    const { notice } = this.receiver;
    // An alert about the former destination still has to be resolved.
    Object.assign(this, { start, position: start, dropped: 0, forgotten: 0, receiver: notice ? { notice } : {} });
  }

  settle(seq: number): void {
    if (seq <= this.position) this.open.delete(seq);
    else this.early.add(seq);
  }

  /**
   * Settles an open alert that is missing from the log. An alert that was requested again is counted as dropped,
   * because it has been deleted.
   */
  lose(seq: number): void {
    if (this.open.get(seq)?.again) this.dropped += 1;
    this.settle(seq);
  }

  /** Counts and settles open alerts whose seq is at most `seq`. Retention has deleted these alerts. */
  drop(seq: number): void {
    const before = this.open.size - this.early.size - this.position;
    for (const one of this.open.keys()) if (one <= seq) this.open.delete(one);
    this.advance(seq, false);
    this.dropped += before - (this.open.size - this.early.size - this.position);
  }

  /**
   * Limits the progress to a log that ends with `stored`. If a later alert has been settled, the log has been replaced.
   */
  cut(stored: number): { isReplaced: boolean } {
    const isReplaced = this.cursor > stored;
    if (isReplaced) {
      this.start = stored;
      this.parked.clear();
    }
    this.position = Math.min(this.position, stored);
    for (const seq of this.open.keys()) if (seq > stored) this.open.delete(seq);
    this.early.clear();
    return { isReplaced };
  }

  giveUp(seq: number, parked: GivenUp): void {
    // Retention has already counted the alert as dropped.
    if (this.isSettled(seq)) return;
    this.addGivenUp(seq, parked);
    this.settle(seq);
  }

  addGivenUp(seq: number, parked: GivenUp): void {
    this.parked.set(seq, parked);
    if (this.parked.size <= mostGivenUp) return;
    const [oldest = seq] = this.parked.keys();
    this.parked.delete(oldest);
    this.forgotten += 1;
  }

  /** Reopens all given-up alerts and returns their seqs. */
  unparkAll(now: number): number[] {
    const seqs = [...this.parked.keys()];
    for (const [seq, { id }] of this.parked) this.open.set(seq, { attempts: 0, again: { id, at: now } });
    this.parked.clear();
    return seqs;
  }

  noteSent(id: string, at: number): void {
    this.sent.delete(id);
    this.sent.set(id, at);
    const [oldest] = this.sent.keys();
    if (this.sent.size > mostSent && oldest !== undefined) this.sent.delete(oldest);
  }

  toJSON() {
    const { start, position, dropped, forgotten, receiver } = this;
    const lists = { open: [...this.open], early: [...this.early], parked: [...this.parked], sent: [...this.sent] };
    const { isOfIncidents, madeAt } = this;
    const kind = { ...(isOfIncidents && { isOfIncidents }), ...(madeAt !== undefined && { madeAt }) };
    return { start, position, dropped, forgotten, receiver, ...kind, ...lists };
  }
}

/** Parses a progress from JSON. Throws an Error for damaged JSON. */
export const parseProgress = (text: string): DeliveryProgress => {
  const { start, position, dropped, forgotten, receiver, isOfIncidents, madeAt, ...lists } = JSON.parse(
    text,
  ) as ReturnType<DeliveryProgress['toJSON']>;
  const progress = Object.assign(new DeliveryProgress(start), { position, dropped, forgotten, receiver });
  Object.assign(progress, { isOfIncidents: isOfIncidents === true, madeAt });
  for (const [seq, one] of lists.open) progress.open.set(seq, one);
  for (const seq of lists.early) progress.early.add(seq);
  for (const [seq, one] of lists.parked) progress.parked.set(seq, one);
  for (const [id, at] of lists.sent) progress.sent.set(id, at);
  return progress;
};

export const bySeq = (one: number, other: number): number => one - other;
