import type { StoredRecord } from '../../storage/journal/line.ts';
import { severities } from '../severity.ts';
import { type Counters, dueAt, type Fold, type IncidentsBefore, type Rules } from './fold.ts';
import { hasAlert, mostEvents, type StoredEvent, type StoredIncident, toIncidentKey } from './incident.ts';
import { type IncidentState, incidentStates } from './schema.ts';
import type { IncidentCount, IncidentFilter, IncidentList, IncidentName } from './store.ts';

/** How many resolved incidents are kept; the oldest are forgotten first. */
export const mostResolved = 100_000;

/** A part of the state as it is stored. */
export type StateEntry =
  | { counters: Counters; rules: Rules; alertSeq: number }
  | { incident: StoredIncident; events: readonly StoredEvent[] };

/** All incidents in memory, with what finds them. */
export class Incidents implements IncidentsBefore {
  counters: Counters = { lastNumber: 0, lastChange: 0, active: 0, oldUntil: 0 };
  #rules: Rules;
  readonly #byId = new Map<string, StoredIncident>();
  readonly #events = new Map<string, readonly StoredEvent[]>();
  readonly #ids = new Map<number, string>();
  /** The id of the last one with a key. */
  readonly #latest = new Map<string, string>();
  readonly #active = new Set<string>();
  readonly #orders = { active: new ChangeOrder(this.#byId), resolved: new ChangeOrder(this.#byId) };
  readonly #counts = new Map<string, IncidentCount>();
  /** No incident is due before this. */
  #earliestDue = Number.POSITIVE_INFINITY;

  constructor(rules: Rules) {
    this.#rules = rules;
  }

  get rules(): Rules {
    return this.#rules;
  }

  set rules(rules: Rules) {
    this.#rules = rules;
    this.#earliestDue = Number.NEGATIVE_INFINITY;
  }

  /** How many incidents there are. */
  get size(): number {
    return this.#byId.size;
  }

  find(id: string | number): StoredIncident | undefined {
    return this.#byId.get(typeof id === 'number' ? (this.#ids.get(id) ?? '') : id);
  }

  findLatest(key: string): StoredIncident | undefined {
    return this.#byId.get(this.#latest.get(key) ?? '');
  }

  listEvents(id: string): readonly StoredEvent[] {
    return this.#events.get(id) ?? [];
  }

  listDue(until: number): StoredIncident[] {
    if (until < this.#earliestDue) return [];
    const due: StoredIncident[] = [];
    this.#earliestDue = Number.POSITIVE_INFINITY;
    for (const id of this.#active) {
      const incident = this.#byId.get(id) as StoredIncident;
      const at = dueAt(incident, this.#rules);
      if (at <= until) due.push(incident);
      this.#earliestDue = Math.min(this.#earliestDue, at);
    }
    const order = (incident: StoredIncident) => dueAt(incident, this.#rules);
    return due.sort((a, b) => order(a) - order(b) || a.number - b.number);
  }

  /** Takes over what a step has changed. */
  take({ changed, events, counters }: Fold): void {
    this.counters = counters;
    for (const { id, event } of events) {
      const all = [...this.listEvents(id), event];
      this.#events.set(id, all.length > mostEvents ? all.slice(-mostEvents) : all);
    }
    for (const incident of [...changed.values()].sort((a, b) => a.change - b.change)) this.#put(incident);
    while (this.#countResolved() > mostResolved) this.#forgetOldest();
  }

  /** Forgets incidents that were resolved before this. */
  forgetBefore(time: number): void {
    for (let oldest = this.#orders.resolved.first(); oldest; oldest = this.#orders.resolved.first()) {
      if ((oldest.resolved?.at ?? time) >= time) return;
      this.#forget(oldest);
    }
  }

  list(filter: IncidentFilter, limit: number, before = Number.POSITIVE_INFINITY): IncidentList {
    const { states, ...others } = filter;
    const isWhole = Object.values(others).every((value) => value === undefined);
    const incidents: StoredIncident[] = [];
    let total = 0;
    let hasMore = false;
    for (const incident of this.#newestFirst(states)) {
      if (!matches(incident, filter)) continue;
      total += 1;
      if (incident.change >= before) continue;
      if (incidents.length < limit) incidents.push(incident);
      else hasMore = true;
      // What is not filtered is counted already.
      if (hasMore && isWhole) break;
    }
    return {
      total: isWhole ? this.#sum(states) : total,
      incidents,
      next: hasMore ? incidents.at(-1)?.change : undefined,
    };
  }

  /** The incident of an alert. */
  nameIncident(alert: StoredRecord): IncidentName | undefined {
    let incident = this.findLatest(toIncidentKey(alert));
    while (incident && !hasAlert(incident, alert.seq)) incident = this.#byId.get(incident.previous ?? '');
    return incident;
  }

  count(): IncidentCount[] {
    return incidentStates.flatMap((state) =>
      severities.map((level) => this.#counts.get(`${state} ${level}`) ?? { state, level, count: 0 }),
    );
  }

  /** What `restore` makes this state of, some at a time; later changes do not matter to it. */
  entries(alertSeq: number): Iterable<readonly StateEntry[]> {
    const { counters, rules } = this;
    const all = Array.from(this.#byId.values(), (incident) => ({ incident, events: this.listEvents(incident.id) }));
    return toPieces([{ counters, rules, alertSeq }], all);
  }

  /** Fills this state, which is empty, with the entries of another; returns the alert that was folded last. */
  restore(entries: StateEntry[]): number | undefined {
    let last: number | undefined;
    const incidents: Extract<StateEntry, { incident: unknown }>[] = [];
    for (const entry of entries) {
      if ('incident' in entry) {
        incidents.push(entry);
        continue;
      }
      this.counters = entry.counters;
      this.rules = entry.rules;
      last = entry.alertSeq;
    }
    for (const { incident, events } of incidents.sort((a, b) => a.incident.change - b.incident.change)) {
      this.#events.set(incident.id, events);
      this.#put(incident);
    }
    return last;
  }

  #put(incident: StoredIncident): void {
    const { id, number, key, state, level } = incident;
    const before = this.#byId.get(id);
    if (before) this.#add(before, -1);
    this.#add({ state, level }, 1);
    this.#byId.set(id, incident);
    if (!before) this.#ids.set(number, id);
    const latest = this.findLatest(key);
    if (!latest || latest.number <= number) this.#latest.set(key, id);
    if (state === 'resolved') this.#active.delete(id);
    else this.#active.add(id);
    if (before?.change !== incident.change) {
      this.#orders[state === 'resolved' ? 'resolved' : 'active'].add(incident);
    }
    this.#earliestDue = Math.min(this.#earliestDue, dueAt(incident, this.#rules));
  }

  #forgetOldest(): void {
    const oldest = this.#orders.resolved.first();
    if (oldest) this.#forget(oldest);
  }

  #forget(incident: StoredIncident): void {
    const { id, number, key } = incident;
    this.#add(incident, -1);
    this.#byId.delete(id);
    this.#events.delete(id);
    this.#ids.delete(number);
    if (this.#latest.get(key) === id) this.#latest.delete(key);
  }

  #add({ state, level }: Pick<StoredIncident, 'state' | 'level'>, change: 1 | -1): void {
    const name = `${state} ${level}`;
    const { count = 0 } = this.#counts.get(name) ?? {};
    this.#counts.set(name, { state, level, count: count + change });
  }

  #sum(states: readonly IncidentState[]): number {
    return this.count().reduce((sum, { state, count }) => sum + (states.includes(state) ? count : 0), 0);
  }

  #countResolved(): number {
    return this.#byId.size - this.#active.size;
  }

  *#newestFirst(states: readonly IncidentState[]): Generator<StoredIncident> {
    const isActive = states.includes('open') || states.includes('acknowledged');
    const active = isActive ? this.#orders.active.newestFirst() : none();
    const resolved = states.includes('resolved') ? this.#orders.resolved.newestFirst() : none();
    let [one, other] = [active.next(), resolved.next()];
    while (!one.done || !other.done) {
      if (other.done || (!one.done && one.value.change > other.value.change)) {
        if (!one.done) yield one.value;
        one = active.next();
      } else {
        yield other.value;
        other = resolved.next();
      }
    }
  }
}

function* none(): Generator<StoredIncident> {}

const matches = (incident: StoredIncident, filter: IncidentFilter): boolean => {
  const { states, level, source, hostname, q, number, since, until } = filter;
  return (
    states.includes(incident.state) &&
    (level === undefined || incident.level === level) &&
    (source === undefined || incident.source.toLowerCase() === source) &&
    (hostname === undefined || incident.hostname.toLowerCase() === hostname) &&
    (number === undefined || incident.number === number) &&
    (q === undefined || incident.title.toLowerCase().includes(q)) &&
    (since === undefined || incident.lastAt >= since) &&
    (until === undefined || incident.firstAt < until)
  );
};

/** Entries are written so many at a time. */
const pieceSize = 100;

function* toPieces(first: StateEntry[], all: StateEntry[]): Generator<StateEntry[]> {
  yield first;
  for (let at = 0; at < all.length; at += pieceSize) yield all.slice(at, at + pieceSize);
}

/** Incidents in the order in which they changed last. A change adds a place; the place before it no longer counts. */
class ChangeOrder {
  readonly #byId: ReadonlyMap<string, StoredIncident>;
  #places: { id: string; change: number }[] = [];
  /** Places before this no longer count. */
  #start = 0;
  /** When there are so many places, those that no longer count are removed. */
  #mostPlaces = 1024;

  constructor(byId: ReadonlyMap<string, StoredIncident>) {
    this.#byId = byId;
  }

  add({ id, change }: StoredIncident): void {
    this.#places.push({ id, change });
    if (this.#places.length < this.#mostPlaces) return;
    this.#places = this.#places.filter((place) => this.#read(place));
    this.#start = 0;
    this.#mostPlaces = Math.max(1024, this.#places.length * 2);
  }

  /** The one that changed first. */
  first(): StoredIncident | undefined {
    for (; this.#start < this.#places.length; this.#start += 1) {
      const incident = this.#read(this.#places[this.#start]);
      if (incident) return incident;
    }
    return undefined;
  }

  *newestFirst(): Generator<StoredIncident> {
    for (let at = this.#places.length - 1; at >= this.#start; at -= 1) {
      const incident = this.#read(this.#places[at]);
      if (incident) yield incident;
    }
  }

  /** The incident at a place, unless it has changed since. */
  #read(place: { id: string; change: number } | undefined): StoredIncident | undefined {
    const incident = place && this.#byId.get(place.id);
    return incident?.change === place?.change ? incident : undefined;
  }
}
