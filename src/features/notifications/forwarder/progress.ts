import type { ReceiverMemory } from '../queue/receiver.ts';

/** More parked alerts are forgotten, oldest first, and only counted. */
const mostParked = 10_000;

/** How many alerts that may come again are remembered. */
const mostSent = 10_000;

/** An alert that the destination has read and not finished with. */
export interface OpenAlert {
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

/** What happened to the alerts of a destination, by their seq. Settled means delivered, parked, lost or not for it. */
export class DeliveryProgress {
  /** Alerts up to this one were there before the destination. */
  start: number;
  /** The last alert that was read. Up to here all are settled but those in `open`. */
  position: number;
  readonly open = new Map<number, OpenAlert>();
  /** Alerts that an administrator sent before they were read. */
  readonly early = new Set<number>();
  readonly parked = new Map<number, Parked>();
  /** Alerts that were deleted before they were delivered or skipped. */
  dropped = 0;
  /** Parked alerts beyond `mostParked`. */
  forgotten = 0;
  receiver: ReceiverMemory = {};
  /** It was notified of incidents last, so what comes meanwhile is not for it. */
  isOfIncidents = false;
  /** When the destination was made at run time; null if it is in the config file, undefined if a former version wrote this. */
  madeAt: number | null | undefined;
  /** When alerts that may come again were sent last, in Unix milliseconds, by the ids of their first records. */
  readonly sent = new Map<string, number>();

  constructor(start: number) {
    this.start = start;
    this.position = start;
  }

  /** Every alert up to this one is settled. */
  get cursor(): number {
    let first = this.position + 1;
    for (const seq of this.open.keys()) first = Math.min(first, seq);
    return first - 1;
  }

  /** Parked alerts, with those that are only counted. */
  get parkedCount(): number {
    return this.parked.size + this.forgotten;
  }

  isSettled(seq: number): boolean {
    return seq <= this.position ? !this.open.has(seq) : this.early.has(seq);
  }

  /** How many alerts are not settled in a log that ends with `stored`. */
  countOpen(stored: number): number {
    return Math.max(0, stored - this.position) + this.open.size - this.early.size;
  }

  /** The alert was read, and any between it and the position are not in the log; returns whether it is open. */
  advance(seq: number, isWanted: boolean): boolean {
    this.position = Math.max(this.position, seq);
    const isOpen = isWanted && !this.early.has(seq);
    if (isOpen) this.open.set(seq, { attempts: 0 });
    for (const one of this.early) if (one <= seq) this.early.delete(one);
    return isOpen;
  }

  /** Alerts up to the seq are not for this destination. */
  skipTo(seq: number): void {
    this.open.clear();
    this.early.clear();
    this.position = Math.max(this.position, seq);
  }

  /** Begins anew after this seq, as another destination of the name does. */
  restart(start: number): void {
    for (const one of [this.open, this.early, this.parked, this.sent]) one.clear();
    const { notice } = this.receiver;
    // An alert that fires about the former one has to end.
    Object.assign(this, { start, position: start, dropped: 0, forgotten: 0, receiver: notice ? { notice } : {} });
  }

  settle(seq: number): void {
    if (seq <= this.position) this.open.delete(seq);
    else this.early.add(seq);
  }

  /** An open alert is not in the log. One that waited again was deleted meanwhile. */
  lose(seq: number): void {
    if (this.open.get(seq)?.again) this.dropped += 1;
    this.settle(seq);
  }

  /** Retention has deleted the alerts up to the seq. */
  drop(seq: number): void {
    const before = this.open.size - this.early.size - this.position;
    for (const one of this.open.keys()) if (one <= seq) this.open.delete(one);
    this.advance(seq, false);
    this.dropped += before - (this.open.size - this.early.size - this.position);
  }

  /** The log ends with `stored`: later alerts will get these seqs again. If all were settled, it was replaced. */
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

  park(seq: number, parked: Parked): void {
    // Retention has counted it as dropped.
    if (this.isSettled(seq)) return;
    this.addParked(seq, parked);
    this.settle(seq);
  }

  addParked(seq: number, parked: Parked): void {
    this.parked.set(seq, parked);
    if (this.parked.size <= mostParked) return;
    const [oldest = seq] = this.parked.keys();
    this.parked.delete(oldest);
    this.forgotten += 1;
  }

  /** All parked alerts wait again; returns their seqs. */
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

/** The progress in the JSON of another. Throws an error where it is damaged. */
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
