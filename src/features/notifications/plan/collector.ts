import type { SharedIncident } from '../../../kit/incident.ts';
import type { PlannedNotification } from './plan.ts';

/** Maximum number of incidents in one message. */
const mostGrouped = 500;

/** Maximum number of waiting messages about single incidents. A message takes more memory than its incident. */
const mostAhead = 100;

/** Incident that waits for a message. Times are Unix milliseconds. */
interface Collected {
  /** Latest time at which a message about the incident is due. */
  dueAt: number;
  /** Time of the update. */
  since: number;
  isCritical: boolean;
}

/** Incidents to be put into one message. */
export interface IncidentGroup {
  ids: readonly string[];
  /** Time of the oldest update, in Unix milliseconds. */
  since: number;
  isCritical: boolean;
}

/** Incidents of one destination that are not in a message yet. They are collected for `groupSeconds`. */
export class Collector {
  /** Milliseconds for which incidents are collected. With 0, each incident gets its own message. */
  readonly #groupMs: number;
  readonly #fresh = new Map<string, Collected>();
  /** Incidents that are due, in message order. */
  readonly #due = new Map<string, Collected>();
  /** Earliest time at which an incident that is still waiting becomes due. */
  #firstDueAt = Number.POSITIVE_INFINITY;

  constructor(groupMs: number) {
    this.#groupMs = groupMs;
  }

  get size(): number {
    return this.#due.size + this.#fresh.size;
  }

  /** Returns the update time of the oldest due incident. */
  waitingSince(now: number): number | undefined {
    let oldest = this.#fresh.size > 0 && this.#firstDueAt <= now ? this.#firstDueAt : Number.POSITIVE_INFINITY;
    for (const { since } of this.#due.values()) oldest = Math.min(oldest, since);
    return Number.isFinite(oldest) ? oldest : undefined;
  }

  /** Returns the milliseconds until the first incident is due. Infinity without incidents. */
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

  /** Adds or replaces an incident. Returns false if the incident is already due and not critical. */
  put(incident: SharedIncident, { dueAt, happenedAt }: PlannedNotification): boolean {
    const isCritical = incident.level === 'CRITICAL' && incident.state !== 'resolved';
    if (this.#due.has(incident.id) && !isCritical) return false;
    this.#due.delete(incident.id);
    this.#fresh.set(incident.id, { dueAt, since: happenedAt, isCritical });
    this.#firstDueAt = Math.min(this.#firstDueAt, dueAt);
    return true;
  }

  /** Removes an incident and returns it as a group. Undefined if the incident is not here. */
  remove(id: string): IncidentGroup | undefined {
    const one = this.#fresh.get(id) ?? this.#due.get(id);
    this.#fresh.delete(id);
    this.#due.delete(id);
    return one && toGroup([[id, one]]);
  }

  /**
   * Removes incidents that are due and returns one group per message. Incidents that become due slightly later join
   * these groups.
   */
  take(now: number, { isIdle }: { isIdle: boolean }): IncidentGroup[] {
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

  #takeFresh(): IncidentGroup[] {
    const all = [...this.#fresh];
    this.#fresh.clear();
    this.#firstDueAt = Number.POSITIVE_INFINITY;
    const groups: IncidentGroup[] = [];
    if (this.#groupMs > 0) {
      for (let at = 0; at < all.length; at += mostGrouped) groups.push(toGroup(all.slice(at, at + mostGrouped)));
      return groups;
    }
    for (const [id, one] of all) {
      // A critical incident goes before all others.
      if (one.isCritical) groups.push(toGroup([[id, one]]));
      else this.#due.set(id, one);
    }
    return groups;
  }
}

const toGroup = (some: readonly (readonly [id: string, one: Collected])[]): IncidentGroup => ({
  ids: some.map(([id]) => id),
  since: Math.min(...some.map(([, { since }]) => since)),
  isCritical: some.some(([, { isCritical }]) => isCritical),
});
