import type { SharedIncident } from '../../../kit/incident-source.ts';
import type { PlannedNotice } from './plan.ts';

/** The most incidents of one message. */
const mostGrouped = 500;

/** Messages of one incident each that are made at a time: a message takes more memory than its incident. */
const mostAhead = 100;

/** An incident of which a destination may be told, until when it must be, and since when; Unix milliseconds. */
interface Collected {
  dueAt: number;
  since: number;
  isCritical: boolean;
}

/** Incidents of which one message is to tell. */
export interface Group {
  ids: readonly string[];
  /** Since when there is something to tell of them, in Unix milliseconds. */
  since: number;
  isCritical: boolean;
}

/** Incidents of which one receiver is to be told and that are in no message yet: they are collected for `groupSeconds`. */
export class Collector {
  /** For how long; 0 makes a message of each. */
  readonly #groupMs: number;
  readonly #fresh = new Map<string, Collected>();
  /** Due, in the order in which messages are made of them. */
  readonly #due = new Map<string, Collected>();
  /** When the first of the fresh ones is due. */
  #firstDueAt = Number.POSITIVE_INFINITY;

  constructor(groupMs: number) {
    this.#groupMs = groupMs;
  }

  get size(): number {
    return this.#due.size + this.#fresh.size;
  }

  /** When the oldest of what is due happened, or could be told at the latest. */
  waitingSince(now: number): number | undefined {
    let oldest = this.#fresh.size > 0 && this.#firstDueAt <= now ? this.#firstDueAt : Number.POSITIVE_INFINITY;
    for (const { since } of this.#due.values()) oldest = Math.min(oldest, since);
    return Number.isFinite(oldest) ? oldest : undefined;
  }

  /** Milliseconds until some are due; infinite if there are none. */
  untilDue(now: number): number {
    return this.#fresh.size === 0 ? Number.POSITIVE_INFINITY : Math.max(0, this.#firstDueAt - now);
  }

  has(id: string): boolean {
    return this.#due.has(id) || this.#fresh.has(id);
  }

  *ids(): Generator<string> {
    yield* this.#due.keys();
    yield* this.#fresh.keys();
  }

  /** There is something to tell of an incident: at once, or by a time, with others; returns whether that is news. */
  put(incident: SharedIncident, { dueAt, happenedAt }: PlannedNotice): boolean {
    const isCritical = incident.level === 'CRITICAL' && incident.state !== 'resolved';
    if (this.#due.has(incident.id) && !isCritical) return false;
    this.#due.delete(incident.id);
    this.#fresh.set(incident.id, { dueAt, since: happenedAt, isCritical });
    this.#firstDueAt = Math.min(this.#firstDueAt, dueAt);
    return true;
  }

  /** Takes out an incident; undefined if it is not there. */
  remove(id: string): Group | undefined {
    const one = this.#fresh.get(id) ?? this.#due.get(id);
    this.#fresh.delete(id);
    this.#due.delete(id);
    return one && toGroup([[id, one]]);
  }

  /** Takes out what is due, for a message each; what was to be told a little later is told with it. */
  take(now: number, { isIdle }: { isIdle: boolean }): Group[] {
    const groups = this.#areFreshDue(now) ? this.#takeFresh() : [];
    if (groups.length > 0 || !isIdle) return groups;
    for (const one of this.#due) {
      groups.push(toGroup([one]));
      this.#due.delete(one[0]);
      if (groups.length === mostAhead) break;
    }
    return groups;
  }

  #areFreshDue(now: number): boolean {
    if (this.#fresh.size === 0 || this.#firstDueAt > now) return false;
    this.#firstDueAt = Number.POSITIVE_INFINITY;
    for (const { dueAt } of this.#fresh.values()) this.#firstDueAt = Math.min(this.#firstDueAt, dueAt);
    return this.#firstDueAt <= now;
  }

  #takeFresh(): Group[] {
    const all = [...this.#fresh];
    this.#fresh.clear();
    this.#firstDueAt = Number.POSITIVE_INFINITY;
    const groups: Group[] = [];
    if (this.#groupMs > 0) {
      for (let at = 0; at < all.length; at += mostGrouped) groups.push(toGroup(all.slice(at, at + mostGrouped)));
      return groups;
    }
    for (const [id, one] of all) {
      // It does not wait for others.
      if (one.isCritical) groups.push(toGroup([[id, one]]));
      else this.#due.set(id, one);
    }
    return groups;
  }
}

const toGroup = (some: readonly (readonly [id: string, one: Collected])[]): Group => ({
  ids: some.map(([id]) => id),
  since: Math.min(...some.map(([, { since }]) => since)),
  isCritical: some.some(([, { isCritical }]) => isCritical),
});
