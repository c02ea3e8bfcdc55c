import type { Measured } from './draft.ts';
import type { StoredIncident } from './incident.ts';
import type { Incidents } from './incidents.ts';
import type { IncidentsOutcome } from './projected-incidents.ts';

type Listener = (incidents: readonly StoredIncident[]) => void;

/** Listeners for incident changes. Events stored before this process started do not count as changes. */
export class ChangeListeners {
  readonly #observe: (measured: Measured) => void;
  readonly #listeners: Listener[] = [];
  readonly #lostListeners: (() => void)[] = [];
  /** Seq of the last event passed to listeners. Undefined until the database is available. */
  #knownSeq: number | undefined;
  /** Most recently restored state. */
  #restored: Incidents | undefined;

  /** `observe` receives measurements of this instance's events. */
  constructor(observe: (measured: Measured) => void, lastSeq: number | undefined) {
    this.#observe = observe;
    this.#knownSeq = lastSeq;
  }

  add(listener: Listener): void {
    this.#listeners.push(listener);
  }

  addLost(listener: () => void): void {
    this.#lostListeners.push(listener);
  }

  /** Calls the listeners with the incidents that events have changed. `lastSeq` is the last seq in the log. */
  takeOutcomes(outcomes: readonly IncidentsOutcome[], lastSeq: number | undefined): void {
    this.#knownSeq ??= lastSeq ?? 0;
    const changed = new Map<string, StoredIncident>();
    for (const outcome of outcomes) {
      if (outcome.seq <= this.#knownSeq) continue;
      this.#knownSeq = outcome.seq;
      if (outcome.measured && outcome.changed.length > 0) this.#observe(outcome.measured);
      for (const incident of outcome.changed) changed.set(incident.id, incident);
    }
    this.#notify([...changed.values()]);
  }

  /** Processes a restored state. If this happens a second time, a database has lost events or their records. */
  takeRestored(state: Incidents, seq: number): void {
    const before = this.#restored;
    this.#restored = state;
    if (!before) return;
    this.#knownSeq = seq;
    for (const listener of this.#lostListeners) listener();
    this.#notify(state.listOther(before));
  }

  #notify(incidents: readonly StoredIncident[]): void {
    if (incidents.length > 0) for (const listener of this.#listeners) listener(incidents);
  }
}
