import type { SharedIncident } from '../../../kit/offers.ts';
import { createWaiting, type QueuedAlert, WaitingAlerts } from '../queue/waiting.ts';
import type { PlannedNotice } from './plan.ts';

/** The most incidents of one message. */
const mostGrouped = 500;

/** Messages of one incident each that are made when none is ready: a message takes more memory than its incident. */
const mostAhead = 100;

/** A message that waits: the incidents that it is about, and the reason of its last failure. */
export interface Bundle {
  waiting: QueuedAlert;
  ids: Set<string>;
  error: string | null;
}

type Since = Pick<QueuedAlert, 'receivedAt' | 'isCritical'>;

/** An incident of which a destination may be told, until when it must be, and since when; Unix milliseconds. */
interface Fresh {
  dueAt: number;
  since: number;
  isCritical: boolean;
}

/**
 * What one receiver is to be told, and in which messages. An incident is in one of them at a time, or fresh: collected with
 * others until it is due. What a message says is decided when it is sent.
 */
export class NoticeQueue {
  /** For how long incidents are collected; 0 makes a message of each. */
  readonly #groupMs: number;
  /** The messages, by their numbers. */
  readonly waiting = new WaitingAlerts();
  readonly #bundles = new Map<number, Bundle>();
  readonly #bundleOf = new Map<string, Bundle>();
  readonly #fresh = new Map<string, Fresh>();
  /** Due, in the order in which messages are made of them. */
  readonly #due = new Map<string, Fresh>();
  /** When the first of the fresh ones is due. */
  #firstDueAt = Number.POSITIVE_INFINITY;
  #lastBundle = 0;

  constructor(groupMs: number) {
    this.#groupMs = groupMs;
  }

  /** Of how many incidents it is to be told now. */
  get size(): number {
    return this.#bundleOf.size + this.#due.size + this.#fresh.size;
  }

  /** When the oldest of what waits happened, or could be sent at the latest. */
  waitingSince(now: number): number | undefined {
    let oldest = this.#fresh.size > 0 && this.#firstDueAt <= now ? this.#firstDueAt : Number.POSITIVE_INFINITY;
    for (const { waiting } of this.#bundles.values()) oldest = Math.min(oldest, waiting.receivedAt);
    for (const { since } of this.#due.values()) oldest = Math.min(oldest, since);
    return Number.isFinite(oldest) ? oldest : undefined;
  }

  /** Milliseconds until fresh ones are due; undefined if there are none. */
  untilFreshAreDue(now: number): number | undefined {
    return this.#fresh.size === 0 ? undefined : Math.max(0, this.#firstDueAt - now);
  }

  /** The message with the incident, if there is one. */
  find(id: string): Bundle | undefined {
    return this.#bundleOf.get(id);
  }

  has(id: string): boolean {
    return this.#bundleOf.has(id) || this.#due.has(id) || this.#fresh.has(id);
  }

  /** The ids of incidents of which it is to be told now; of some of them, if there are many. */
  listIds(most: number): string[] {
    const ids: string[] = [];
    for (const all of [this.#bundleOf, this.#due, this.#fresh]) {
      for (const id of all.keys()) {
        if (ids.length === most) return ids;
        ids.push(id);
      }
    }
    return ids;
  }

  list(): Bundle[] {
    return [...this.#bundles.values()];
  }

  /** There is something to tell of an incident: at once, or by a time, with others; returns whether that is news. */
  put(incident: SharedIncident, { dueAt, happenedAt }: PlannedNotice): boolean {
    const isCritical = incident.level === 'CRITICAL' && incident.state !== 'resolved';
    if (this.#bundleOf.has(incident.id) || (this.#due.has(incident.id) && !isCritical)) return false;
    this.#due.delete(incident.id);
    this.#fresh.set(incident.id, { dueAt, since: happenedAt, isCritical });
    this.#firstDueAt = Math.min(this.#firstDueAt, dueAt);
    return true;
  }

  /** There is nothing to tell of it any more. What is being sent is not called back. */
  withdraw(id: string): void {
    this.#fresh.delete(id);
    this.#due.delete(id);
    const bundle = this.#bundleOf.get(id);
    if (bundle && bundle.waiting.state !== 'running') this.release(bundle, id);
  }

  /** Makes messages of what is due; what was to be told a little later is told with it. */
  group(now: number): void {
    if (this.#areFreshDue(now)) this.#groupFresh();
    if (this.waiting.hasReady) return;
    let made = 0;
    for (const [id, one] of this.#due) {
      this.#due.delete(id);
      this.#add(new Set([id]), toBegin([one]));
      made += 1;
      if (made === mostAhead) return;
    }
  }

  #areFreshDue(now: number): boolean {
    if (this.#fresh.size === 0 || this.#firstDueAt > now) return false;
    this.#firstDueAt = Number.POSITIVE_INFINITY;
    for (const { dueAt } of this.#fresh.values()) this.#firstDueAt = Math.min(this.#firstDueAt, dueAt);
    return this.#firstDueAt <= now;
  }

  #groupFresh(): void {
    const all = [...this.#fresh];
    this.#fresh.clear();
    this.#firstDueAt = Number.POSITIVE_INFINITY;
    if (this.#groupMs > 0) {
      for (let at = 0; at < all.length; at += mostGrouped) {
        const some = all.slice(at, at + mostGrouped);
        this.#add(new Set(some.map(([id]) => id)), toBegin(some.map(([, one]) => one)));
      }
      return;
    }
    for (const [id, one] of all) {
      // It does not wait for others.
      if (one.isCritical) this.#add(new Set([id]), toBegin([one]));
      else this.#due.set(id, one);
    }
  }

  /** The message that is next; it counts as running from then on. */
  take(): Bundle | undefined {
    const waiting = this.waiting.take(performance.now());
    return waiting && this.#bundles.get(waiting.seq);
  }

  /** Makes a message of the incident alone, whatever it waits for; it counts as running. */
  takeAlone(id: string, now: number): Bundle {
    const before = this.#bundleOf.get(id);
    const fresh = this.#fresh.get(id) ??
      this.#due.get(id) ?? { since: before?.waiting.receivedAt ?? now, isCritical: false };
    this.#fresh.delete(id);
    this.#due.delete(id);
    if (before) this.release(before, id);
    const bundle = this.#add(new Set([id]), { receivedAt: fresh.since, isCritical: fresh.isCritical }, before);
    this.begin(bundle);
    return bundle;
  }

  /** The message counts as running. */
  begin({ waiting }: Bundle): void {
    this.waiting.begin(waiting);
  }

  /** The message was tried, and waits again. */
  wait({ waiting }: Bundle): void {
    this.waiting.release(waiting, performance.now());
  }

  /** The incident no longer waits in a message. */
  release(bundle: Bundle, id: string): void {
    bundle.ids.delete(id);
    if (this.#bundleOf.get(id) === bundle) this.#bundleOf.delete(id);
    if (bundle.ids.size === 0) this.drop(bundle);
  }

  drop({ waiting, ids }: Bundle): void {
    this.waiting.remove(waiting);
    this.#bundles.delete(waiting.seq);
    for (const id of ids) this.#bundleOf.delete(id);
  }

  /** One of the incidents may be why it failed. Another one, alone and first, shows whether the receiver accepts others. */
  cut(bundle: Bundle): void {
    const ids = [...bundle.ids];
    const { waiting } = bundle;
    this.drop(bundle);
    const probe = ids.pop();
    const half = Math.ceil(ids.length / 2);
    const parts = [ids.slice(0, half), ids.slice(half)].filter((part) => part.length > 0);
    for (const part of parts) this.#add(new Set(part), waiting, bundle);
    if (probe === undefined) return;
    const others = { ...bundle, waiting: { ...waiting, suspicion: 0, rejections: 0 } };
    this.#add(new Set([probe]), waiting, others);
  }

  /** `failed`: the message that it was a part of. */
  #add(ids: Set<string>, { receivedAt, isCritical }: Since, failed?: Bundle): Bundle {
    this.#lastBundle += 1;
    const seq = this.#lastBundle;
    const waiting = createWaiting({ seq, id: '', receivedAt, isCritical, key: undefined }, failed?.waiting);
    const bundle = { waiting, ids, error: failed?.error ?? null };
    this.#bundles.set(seq, bundle);
    for (const id of ids) this.#bundleOf.set(id, bundle);
    this.waiting.add(bundle.waiting);
    return bundle;
  }
}

const toBegin = (some: readonly Fresh[]): Since => ({
  receivedAt: Math.min(...some.map(({ since }) => since)),
  isCritical: some.some(({ isCritical }) => isCritical),
});
