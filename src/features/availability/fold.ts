import type { CheckId } from '../../kit/availability.ts';
import { dayMs } from '../../lib/units.ts';
import type { StoredRecord } from '../../storage/journal/line.ts';
import type { ProjectionState } from '../../storage/projection-state.ts';
import { type AvailabilityEvent, parseAvailabilityEvent } from './events.ts';
import { CheckHistory, type HistorySnapshot } from './history.ts';

/** Maximum number of checks with a history, including deleted checks. */
const maxHistories = 20_000;

/** Check whose history an event has changed: `all` for every check, undefined for none. */
export type ChangedCheck = CheckId | 'all' | undefined;

/** Entry of a snapshot. */
export type AvailabilitySnapshotEntry =
  | HistorySnapshot
  | { gapFrom: number | null; alive: (readonly [place: string, at: number])[] };

/** Histories of all checks, folded from events. */
export class AvailabilityFold implements ProjectionState<ChangedCheck> {
  readonly #histories = new Map<CheckId, CheckHistory>();
  /** Start of the last gap, in Unix milliseconds. The clock may have been set forward when that gap ended. */
  #gapFrom = Number.POSITIVE_INFINITY;
  /** Last sign of life of each place in Unix milliseconds. */
  readonly #alive = new Map<string, number>();

  find(check: CheckId): CheckHistory | undefined {
    return this.#histories.get(check);
  }

  list(): IterableIterator<CheckHistory> {
    return this.#histories.values();
  }

  /** Returns the places that observe checks, each with its last sign of life in Unix milliseconds. */
  listAlive(): ReadonlyMap<string, number> {
    return this.#alive;
  }

  /**
   * True for a time more than a day before both the last sign of life and the last gap. The clock has then not been set
   * yet, for example after booting without a clock battery. Histories wait until it is set.
   */
  isTooEarly(at: number): boolean {
    return at < Math.min(Math.max(0, ...this.#alive.values()) - dayMs, this.#gapFrom);
  }

  fold(record: StoredRecord): ChangedCheck {
    const event = parseAvailabilityEvent(record);
    if (!event) return undefined;
    switch (event.type) {
      case 'alive':
        for (const place of event.places) this.#alive.set(place, event.at);
        return undefined;
      case 'gap':
        this.#gapFrom = event.from;
        this.#alive.delete(event.place);
        for (const history of this.list()) history.lose(event.place, event.from, event.at);
        return 'all';
      case 'clock':
        this.#setBack(event.at);
        return 'all';
      case 'imported':
        return this.#import(event);
      case 'forgotten':
        if (this.find(event.check)?.deletedAt === null) return undefined;
        this.#histories.delete(event.check);
        return event.check;
      default:
        return this.#foldChange(event) ? event.check : undefined;
    }
  }

  save(): (readonly AvailabilitySnapshotEntry[])[] {
    const gapFrom = Number.isFinite(this.#gapFrom) ? this.#gapFrom : null;
    const places = { gapFrom, alive: [...this.#alive] };
    return [[places], ...Array.from(this.list(), (history) => [history.save()])];
  }

  restore(entry: unknown): ChangedCheck {
    const saved = entry as AvailabilitySnapshotEntry;
    if ('gapFrom' in saved) {
      this.#gapFrom = saved.gapFrom ?? Number.POSITIVE_INFINITY;
      for (const [place, at] of saved.alive) this.#alive.set(place, at);
      return undefined;
    }
    this.#histories.set(saved.check, CheckHistory.restore(saved));
    return saved.check;
  }

  /** Replaces the history of a check. The check's places continue to observe it. */
  #import({ history, at }: Extract<AvailabilityEvent, { type: 'imported' }>): ChangedCheck {
    const known = this.find(history.check);
    if (!known && this.#histories.size >= maxHistories) return undefined;
    this.restore(history);
    if (known) this.find(history.check)?.continueFrom(known, at);
    return history.check;
  }

  #foldChange(event: Extract<AvailabilityEvent, { check: CheckId }>): boolean {
    const history = 'createdAt' in event ? this.#require(event) : this.find(event.check);
    if (!history) return false;
    const { at } = event;
    if (event.type === 'state') {
      const { place, state, cause = null, incident = null } = event;
      this.#alive.set(place, Math.max(at, this.#alive.get(place) ?? 0));
      history.setState(place, state, at, { cause, incident });
    } else if (event.type === 'maintenance') history.setMaintenance(event.isOn, at);
    else if (event.type === 'incident') history.timeline.setIncident(event.incident);
    else history.delete(at);
    return true;
  }

  /** Returns the history of a check, creating it if needed. Undefined if there are too many histories. */
  #require({ check, createdAt }: { check: CheckId; createdAt: number }): CheckHistory | undefined {
    const known = this.find(check);
    // A check from the config file has no creation time, so it continues the history of its name.
    const isOther = known !== undefined && createdAt > 0 && known.createdAt > 0 && createdAt !== known.createdAt;
    if (known && !isOther) {
      known.createdAt = createdAt;
      return known;
    }
    this.#histories.delete(check);
    if (this.#histories.size >= maxHistories && !this.#forgetDeleted()) return undefined;
    const history = new CheckHistory(check, createdAt);
    this.#histories.set(check, history);
    return history;
  }

  /** Forgets the history of the earliest deleted check. Returns false if there is no deleted check. */
  #forgetDeleted(): boolean {
    let first: CheckHistory | undefined;
    for (const history of this.list()) {
      const { deletedAt } = history;
      if (deletedAt !== null && deletedAt < (first?.deletedAt ?? Number.POSITIVE_INFINITY)) first = history;
    }
    return first !== undefined && this.#histories.delete(first.check);
  }

  /**
   * Forgets changes with times in the future. Such changes exist if the clock was set forward earlier, or is set back
   * now.
   */
  #setBack(at: number): void {
    if (this.isTooEarly(at)) return;
    for (const [place, last] of this.#alive) this.#alive.set(place, Math.min(last, at));
    for (const { timeline } of this.list()) timeline.cut(Math.floor(at / 1000));
  }
}
