import { bisect } from '../../../lib/bisect.ts';
import type { Tries } from './retries.ts';

/** Maximum number of messages in memory. Further messages stay in the log until there is room. */
const capacity = 10_000;

/** Message to a receiver. */
export interface Sendable<T> {
  content: T;
  /** Position in the sending order, such as the `seq` of an alert in the log. */
  seq: number;
  /** Time at which the alert was received, or time of the oldest update, in Unix milliseconds. */
  receivedAt: number;
  /**
   * Time at which an administrator asked to send the message again, in Unix milliseconds. `giveUpHours` are counted
   * from then.
   */
  askedAt?: number | undefined;
  isCritical: boolean;
  /** Messages with equal keys are sent in `seq` order. Undefined if the message may be sent in any order. */
  key: string | undefined;
}

export interface Queued<T> extends Readonly<Sendable<T>>, Tries {
  /** `ready`: can be sent. `later`: not due yet. `behind`: waits for an older message with an equal key. */
  state: 'ready' | 'later' | 'behind' | 'running';
}

/**
 * Creates a waiting message. `tried` has the attempts so far. Properties are listed one by one, because spreading is
 * slow.
 */
export const createQueued = <T>(
  { content, seq, receivedAt, askedAt, isCritical, key }: Sendable<T>,
  tried: Partial<Tries> = {},
): Queued<T> => ({
  content,
  seq,
  receivedAt,
  askedAt,
  isCritical,
  key,
  attempts: tried.attempts ?? 0,
  rejections: tried.rejections ?? 0,
  unanswered: tried.unanswered ?? 0,
  possibleFaults: tried.possibleFaults ?? 0,
  failingSince: tried.failingSince,
  error: tried.error ?? null,
  dueAt: 0,
  isEarly: false,
  state: 'ready',
});

/**
 * Messages that a destination has neither delivered nor given up. The newest critical message goes first. Without a
 * critical message, the oldest message goes first. Messages with equal keys stay in order.
 */
export class WaitingMessages<T> {
  readonly #messages = new Map<number, Queued<T>>();
  /** Messages by key, oldest first. */
  readonly #chains = new Map<string, Queued<T>[]>();
  /** Messages that can be sent now, in order. */
  readonly #ready: Queued<T>[] = [];
  readonly #later = new Set<Queued<T>>();
  #isFull = false;

  get size(): number {
    return this.#messages.size;
  }

  /** True from the time when there are 10,000 messages until only half of them remain. */
  get isFull(): boolean {
    const { size } = this.#messages;
    if (size >= capacity) this.#isFull = true;
    else if (size <= capacity / 2) this.#isFull = false;
    return this.#isFull;
  }

  /** Monotonic time at which the next message is due. Infinity if none is due. */
  get nextDueAt(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const { dueAt } of this.#later) next = Math.min(next, dueAt);
    return next;
  }

  /** Time of the oldest message, in Unix milliseconds. Undefined without messages. */
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

  /** Returns the next message at a monotonic time and marks it as running. Undefined if no message is ready. */
  take(now: number): Queued<T> | undefined {
    for (const one of this.#later) if (one.dueAt <= now) this.#makeReady(one);
    const next = this.#ready.shift();
    if (next) next.state = 'running';
    return next;
  }

  /** Marks a message as running, even out of turn. */
  begin(one: Queued<T>): void {
    this.#withdraw(one);
    one.state = 'running';
  }

  /** Puts a message back in the queue after a failed attempt. */
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

  /**
   * Makes messages ready early. With `all`, this applies to every message. Otherwise it applies only to messages that
   * the receiver does not have and that have had no early attempt.
   */
  allowEarly({ all }: { all: boolean }): void {
    for (const one of this.#ready) one.possibleFaults = 0;
    this.#ready.sort(comparePositions);
    for (const one of this.#later) {
      if ((one.isEarly || one.unanswered > 0) && !all) continue;
      one.isEarly = true;
      one.possibleFaults = 0;
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

  /** Inserts a message in order among the messages that have its key. */
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
 * Compares messages for sorting. Messages that may have caused failures come last, fewest failures first. Among the
 * others, the newest critical message comes first, followed by the rest, oldest first.
 */
const comparePositions = (one: Position, other: Position): number =>
  one.possibleFaults - other.possibleFaults ||
  Number(other.isCritical) - Number(one.isCritical) ||
  (one.isCritical ? other.seq - one.seq : one.seq - other.seq);

type Position = Pick<Queued<unknown>, 'possibleFaults' | 'isCritical' | 'seq'>;

/** Returns the index of a message in the list. If it is not in the list, returns the index at which to insert it. */
const findPlace = (list: readonly Position[], wanted: Position): number => {
  const isBefore = (one: Position): boolean => comparePositions(one, wanted) < 0;
  const last = list.at(-1);
  // The message nearly always belongs at the end.
  return !last || isBefore(last) ? list.length : bisect(list, isBefore);
};
