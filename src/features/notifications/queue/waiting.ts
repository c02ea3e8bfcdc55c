import { bisect } from '../../../lib/bisect.ts';
import type { Tries } from './retries.ts';

/** More messages stay where they come from until there is room. */
const capacity = 10_000;

/** What is to be sent to a receiver. */
export interface Sendable<T> {
  message: T;
  /** Its place among others, such as the number of its one in the log. */
  seq: number;
  /** When it was received, or happened; Unix milliseconds. */
  receivedAt: number;
  /** When somebody asked to send it again, from which on the promise counts. */
  askedAt?: number | undefined;
  isCritical: boolean;
  /** Those with one key are sent in the order of `seq`; undefined if it has no others. */
  key: string | undefined;
}

/** A message that waits. */
export interface Queued<T> extends Readonly<Sendable<T>>, Tries {
  /** `ready`: may be sent. `later`: is not due. `behind`: an older one has its key. */
  state: 'ready' | 'later' | 'behind' | 'running';
}

/** One that has just begun to wait, or was tried before in another message. Spread, thousands of them would take longer to send. */
export const createQueued = <T>(
  { message, seq, receivedAt, askedAt, isCritical, key }: Sendable<T>,
  tried: Partial<Tries> = {},
): Queued<T> => ({
  message,
  seq,
  receivedAt,
  askedAt,
  isCritical,
  key,
  attempts: tried.attempts ?? 0,
  rejections: tried.rejections ?? 0,
  unanswered: tried.unanswered ?? 0,
  suspicion: tried.suspicion ?? 0,
  failingSince: tried.failingSince,
  error: tried.error ?? null,
  dueAt: 0,
  isEarly: false,
  state: 'ready',
});

/**
 * The messages that a destination has not finished with, and which of them is next: the newest critical one, or else the
 * oldest one, but none before an older one with its key.
 */
export class WaitingMessages<T> {
  readonly #messages = new Map<number, Queued<T>>();
  /** Those with one key, the oldest first. */
  readonly #chains = new Map<string, Queued<T>[]>();
  /** Those that may be sent now, in that order. */
  readonly #ready: Queued<T>[] = [];
  readonly #later = new Set<Queued<T>>();
  #isFull = false;

  get size(): number {
    return this.#messages.size;
  }

  /** Once full, it takes no more until half of the room is free. */
  get isFull(): boolean {
    const { size } = this.#messages;
    if (size >= capacity) this.#isFull = true;
    else if (size <= capacity / 2) this.#isFull = false;
    return this.#isFull;
  }

  /** When the first of those that are not due will be; infinite if there is none. */
  get nextDueAt(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const { dueAt } of this.#later) next = Math.min(next, dueAt);
    return next;
  }

  /** When the oldest was received, or happened; undefined if none waits. */
  get oldest(): number | undefined {
    let oldest: number | undefined;
    for (const { receivedAt } of this.list()) oldest = Math.min(oldest ?? receivedAt, receivedAt);
    return oldest;
  }

  get hasReady(): boolean {
    return this.#ready.length > 0;
  }

  has(seq: number): boolean {
    return this.#messages.has(seq);
  }

  get(seq: number): Queued<T> | undefined {
    return this.#messages.get(seq);
  }

  list(): IterableIterator<Queued<T>> {
    return this.#messages.values();
  }

  add(one: Queued<T>): void {
    this.#messages.set(one.seq, one);
    const { key } = one;
    if (key !== undefined) {
      const chain = this.#chains.get(key);
      if (chain) this.#join(chain, one);
      else this.#chains.set(key, [one]);
    }
    if (one.state === 'ready') this.#makeReady(one);
  }

  /** The one that is next at `now`; it counts as running from then on. */
  take(now: number): Queued<T> | undefined {
    for (const one of this.#later) if (one.dueAt <= now) this.#makeReady(one);
    const next = this.#ready.shift();
    if (next) next.state = 'running';
    return next;
  }

  /** It counts as running, although it may not be its turn. */
  begin(one: Queued<T>): void {
    this.#withdraw(one);
    one.state = 'running';
  }

  /** It was tried and waits again. */
  release(one: Queued<T>, now: number): void {
    if (this.#messages.get(one.seq) !== one) return;
    const head = one.key === undefined ? one : this.#chains.get(one.key)?.[0];
    if (head !== one) {
      one.state = 'behind';
      if (head?.state === 'behind') this.#makeReady(head);
    } else if (one.dueAt > now) {
      one.state = 'later';
      this.#later.add(one);
    } else this.#makeReady(one);
  }

  /** It no longer waits. */
  remove(one: Queued<T>): void {
    if (!this.#messages.delete(one.seq)) return;
    this.#withdraw(one);
    const { key } = one;
    const chain = key === undefined ? undefined : this.#chains.get(key);
    if (key === undefined || !chain) return;
    chain.splice(chain.indexOf(one), 1);
    const [next] = chain;
    if (!next) this.#chains.delete(key);
    else if (next.state === 'behind') this.#makeReady(next);
  }

  /** Messages that are not due may be tried now: all of them, or those that were not tried early already. */
  hurry({ all }: { all: boolean }): void {
    for (const one of this.#ready) one.suspicion = 0;
    this.#ready.sort(compareTurns);
    for (const one of this.#later) {
      if ((one.isEarly || one.unanswered > 0) && !all) continue;
      one.isEarly = true;
      one.suspicion = 0;
      this.#makeReady(one);
    }
  }

  #makeReady(one: Queued<T>): void {
    this.#later.delete(one);
    one.state = 'ready';
    this.#ready.splice(findPlace(this.#ready, one), 0, one);
  }

  #withdraw(one: Queued<T>): void {
    this.#later.delete(one);
    if (one.state !== 'ready') return;
    const place = findPlace(this.#ready, one);
    if (this.#ready[place] === one) this.#ready.splice(place, 1);
  }

  /** Behind the older ones of its key. */
  #join(chain: Queued<T>[], one: Queued<T>): void {
    const newer = chain.findIndex(({ seq }) => seq > one.seq);
    const place = newer < 0 ? chain.length : newer;
    const [head] = chain;
    chain.splice(place, 0, one);
    if (place > 0 || head?.state === 'running') one.state = 'behind';
    else if (head) {
      this.#withdraw(head);
      head.state = 'behind';
    }
  }
}

/**
 * Those under suspicion come last, the ones that have failed least before others; of equal ones the newest critical one is
 * first, then the oldest of the others.
 */
const compareTurns = (one: Turn, other: Turn): number =>
  one.suspicion - other.suspicion ||
  Number(other.isCritical) - Number(one.isCritical) ||
  (one.isCritical ? other.seq - one.seq : one.seq - other.seq);

type Turn = Pick<Queued<unknown>, 'suspicion' | 'isCritical' | 'seq'>;

/** The index of a message in the list, or where it belongs. */
const findPlace = (list: readonly Turn[], wanted: Turn): number => {
  const isBefore = (one: Turn): boolean => compareTurns(one, wanted) < 0;
  const last = list.at(-1);
  // Nearly always, it is the last one.
  return !last || isBefore(last) ? list.length : bisect(list, isBefore);
};
