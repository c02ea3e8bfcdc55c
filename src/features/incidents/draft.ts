import type { StoredEvent, StoredIncident } from './incident.ts';
import { dueAt, type Rules } from './rules.ts';

/** Counters across all incidents. */
export interface Counters {
  /** Number of the latest incident. */
  lastNumber: number;
  /** Number of the latest change. */
  lastChange: number;
  /** Number of open and acknowledged incidents. */
  active: number;
  /** Seq of the last alert stored before incidents existed. */
  oldUntil: number;
}

/** Incidents before a step. The step does not modify them. */
export interface IncidentsBefore {
  readonly counters: Readonly<Counters>;
  find(id: string): StoredIncident | undefined;
  /** Finds the latest incident with the key. */
  findLatest(key: string): StoredIncident | undefined;
  /** Lists incidents that are due by `until`, earliest first. See `dueAt`. */
  listDue(until: number): readonly StoredIncident[];
}

/** Measurements of a step for metrics: counts, and the milliseconds for which incidents were open. */
export interface Measured {
  opened: number;
  /** Number of alerts received while the maximum number of incidents was active. */
  overflowed: number;
  toAcknowledge: number[];
  toResolve: number[];
}

export const createMeasured = (): Measured => ({ opened: 0, overflowed: 0, toAcknowledge: [], toResolve: [] });

interface Due {
  id: string;
  number: number;
  at: number;
}

/**
 * Changes made by a step: editable copies of incidents, new events and counters. At the end, `Incidents` applies the
 * changes.
 */
export class Draft {
  readonly rules: Rules;
  readonly counters: Counters;
  /** New and changed incidents by id. */
  readonly changed = new Map<string, StoredIncident>();
  /** New timeline events in order. */
  readonly events: { id: string; event: StoredEvent }[] = [];
  /** Measurements of subsequent changes. May be replaced between two alerts. */
  measured = createMeasured();
  readonly #before: IncidentsBefore;
  readonly #until: number;
  /** Latest new or changed incident for each key. */
  readonly #latest = new Map<string, StoredIncident>();
  /** Incidents that become due during the step, earliest first. */
  readonly #due: Due[];
  /** Notices of changed incidents that have already been copied. Created on demand, because few steps copy notices. */
  #copied: Set<StoredIncident['notices']> | undefined;

  /** Creates the changes of a step. Its time never goes beyond `until`. */
  constructor(before: IncidentsBefore, rules: Rules, until: number) {
    this.#before = before;
    this.#until = until;
    this.rules = rules;
    this.counters = { ...before.counters };
    this.#due = before.listDue(until).map((incident) => this.#toDue(incident));
  }

  find(id: string): StoredIncident | undefined {
    return this.changed.get(id) ?? this.#before.find(id);
  }

  findLatest(key: string): StoredIncident | undefined {
    return this.#latest.get(key) ?? this.#before.findLatest(key);
  }

  /** Adds a new incident. It needs no copy. */
  add(incident: StoredIncident): void {
    this.changed.set(incident.id, incident);
    this.#latest.set(incident.key, incident);
  }

  /** Returns an editable copy of an incident. */
  edit(incident: StoredIncident): StoredIncident {
    const known = this.changed.get(incident.id);
    if (known) return known;
    const copy = { ...incident };
    this.changed.set(copy.id, copy);
    const latest = this.findLatest(copy.key);
    if (!latest || latest.number <= copy.number) this.#latest.set(copy.key, copy);
    return copy;
  }

  /** Returns a copy that is last in the order of changes. */
  touch(incident: StoredIncident): StoredIncident {
    const changed = this.edit(incident);
    this.counters.lastChange += 1;
    changed.change = this.counters.lastChange;
    return changed;
  }

  /** Adds a timeline event without changing the version. */
  addEvent(incident: StoredIncident, event: StoredEvent): StoredIncident {
    const changed = this.touch(incident);
    changed.lastEvent += 1;
    if (event.destination !== undefined) event.change = changed.change;
    this.events.push({ id: changed.id, event });
    return changed;
  }

  /** Adds a timeline event and creates a new version. */
  change(incident: StoredIncident, changes: Partial<StoredIncident>, event: StoredEvent): StoredIncident {
    const changed = Object.assign(this.addEvent(incident, event), changes);
    changed.version += 1;
    return changed;
  }

  /**
   * Returns the notices of a copy. They are copied only once per step, because a step may notify a hundred
   * destinations.
   */
  editNotifications(changed: StoredIncident): StoredIncident['notices'] {
    this.#copied ??= new Set();
    if (!this.#copied.has(changed.notices)) {
      changed.notices = { ...changed.notices };
      this.#copied.add(changed.notices);
    }
    return changed.notices;
  }

  /** Records an incident that becomes due during the step. */
  noteDue(incident: StoredIncident): void {
    const due = this.#toDue(incident);
    if (due.at > this.#until) return;
    const place = this.#due.findIndex(({ at, number }) => at > due.at || (at === due.at && number > due.number));
    this.#due.splice(place < 0 ? this.#due.length : place, 0, due);
  }

  /** Removes the incident that is due next. Returns the incident and its time. */
  takeDue(until: number): { incident: StoredIncident; at: number } | undefined {
    for (let first = this.#due[0]; first && first.at <= until; first = this.#due[0]) {
      this.#due.shift();
      const incident = this.find(first.id);
      if (incident && dueAt(incident, this.rules) === first.at) return { incident, at: first.at };
    }
    return undefined;
  }

  #toDue(incident: StoredIncident): Due {
    return { id: incident.id, number: incident.number, at: dueAt(incident, this.rules) };
  }
}
