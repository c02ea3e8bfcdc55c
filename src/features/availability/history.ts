import type { CheckId, CheckState } from '../../kit/availability.ts';
import { type OutageFacts, Timeline, type TimelineSnapshot } from './timeline.ts';

/** History of a check in a snapshot and in an export. */
export interface HistorySnapshot extends TimelineSnapshot {
  check: CheckId;
  createdAt: number;
  deletedAt: number | null;
  places: (readonly [place: string, isUp: boolean])[];
  isMaintained: boolean;
}

/** History of one check, possibly observed by several places. The check is down if any place finds it down. */
export class CheckHistory {
  readonly check: CheckId;
  /** Time at which the check was created, in Unix milliseconds. 0 for a check from the config file. */
  createdAt: number;
  readonly timeline: Timeline;
  /** Time of the deletion in Unix milliseconds. Null for a check that still exists. */
  deletedAt: number | null = null;
  /** Places with a known state: true where the check is up, false where it is down. */
  readonly #places = new Map<string, boolean>();
  #isMaintained = false;

  constructor(check: CheckId, createdAt: number, timeline = new Timeline()) {
    this.check = check;
    this.createdAt = createdAt;
    this.timeline = timeline;
  }

  get isMaintained(): boolean {
    return this.#isMaintained;
  }

  /** True if at least one place knows the state. */
  get isObserved(): boolean {
    return this.#places.size > 0;
  }

  setState(place: string, state: 'up' | 'down' | 'unknown', at: number, facts: OutageFacts): void {
    if (state === 'unknown') this.#places.delete(place);
    else this.#places.set(place, state === 'up');
    if (state !== 'unknown') this.deletedAt = null;
    this.#settle(at, facts);
  }

  setMaintenance(isOn: boolean, at: number): void {
    this.#isMaintained = isOn;
    this.#settle(at);
  }

  /** Marks the check as unobserved at a place between two times. */
  lose(place: string, from: number, until = Number.POSITIVE_INFINITY): void {
    const wasObserved = this.#places.delete(place);
    if (!wasObserved && !this.#isMaintained) return;
    // Otherwise, maintenance that ended in the meantime would count for too long.
    if (this.#places.size === 0) this.#isMaintained = false;
    // The last change was observed, even if it is later than the last sign of life.
    this.#settle(Math.min(Math.max(from, 1000 * (this.timeline.since + 1)), until));
  }

  delete(at: number): void {
    this.#places.clear();
    this.#isMaintained = false;
    this.deletedAt = at;
    this.#settle(at);
  }

  /** Continues with the state that another history of the same check has. */
  continueFrom(other: CheckHistory, at: number): void {
    for (const [place, isUp] of other.#places) this.#places.set(place, isUp);
    this.#isMaintained = other.#isMaintained;
    if (this.isObserved) this.deletedAt = null;
    this.#settle(at);
  }

  save(): HistorySnapshot {
    const { check, createdAt, deletedAt, timeline } = this;
    const places = [...this.#places];
    return { check, createdAt, deletedAt, places, isMaintained: this.#isMaintained, ...timeline.save() };
  }

  static restore(saved: HistorySnapshot): CheckHistory {
    const history = new CheckHistory(saved.check, saved.createdAt, Timeline.restore(saved));
    history.deletedAt = saved.deletedAt;
    for (const [place, isUp] of saved.places) history.#places.set(place, isUp);
    history.#isMaintained = saved.isMaintained;
    return history;
  }

  #settle(at: number, facts?: OutageFacts): void {
    this.timeline.change(this.#combine(), Math.floor(at / 1000), facts);
  }

  #combine(): CheckState {
    if (this.#isMaintained) return 'maintenance';
    if (this.#places.size === 0) return 'unknown';
    return [...this.#places.values()].every(Boolean) ? 'up' : 'down';
  }
}
