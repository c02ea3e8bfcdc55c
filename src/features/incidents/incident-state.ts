import type { SentFilter, SentNotification } from '../../kit/incident-source.ts';
import { type Severity, severities } from '../../kit/severity.ts';
import type { StoredRecord } from '../../storage/journal/line.ts';
import { type Changed, ChangeOrder } from './change-order.ts';
import type { Counters, Fold, IncidentsBefore } from './fold.ts';
import {
  completeIncident,
  mostEvents,
  type StoredEvent,
  type StoredIncident,
  toIncidentKey,
  toSent,
} from './incident.ts';
import { createFilter, type IncidentFilter, type IncidentList } from './incident-list.ts';
import { dueAt, type Rules } from './rules.ts';
import { type IncidentState, incidentStates } from './schema.ts';
import { hasAlert } from './spans.ts';

/** How many resolved incidents are kept; the oldest are forgotten first, so many together, since each time costs an event. */
export const mostResolved = 100_000;
export const forgottenCount = 1000;

/** How many notifications are listed of all incidents. */
const mostSent = 10_000;

/** A part of the state as it is stored. */
export type StateEntry =
  | { counters: Counters; rules: Rules }
  | { incident: StoredIncident; events: readonly StoredEvent[] };

/** An incident in memory. */
interface Entry extends Changed {
  events: readonly StoredEvent[];
}

/** The short name of the incident that an alert belongs to. */
export type IncidentName = Pick<StoredIncident, 'id' | 'number'>;

/** How many incidents there are in a state and of a level. */
export interface IncidentCount {
  state: IncidentState;
  level: Severity;
  count: number;
}

/** All incidents in memory, with what finds them. */
export class Incidents implements IncidentsBefore {
  counters: Counters = { lastNumber: 0, lastChange: 0, active: 0, oldUntil: 0 };
  #rules: Rules;
  readonly #byId = new Map<string, Entry>();
  readonly #byNumber = new Map<number, Entry>();
  /** The last one with a key. */
  readonly #latest = new Map<string, Entry>();
  readonly #active = new Set<string>();
  readonly #orders = { active: new ChangeOrder(), resolved: new ChangeOrder() };
  readonly #counts = new Map<string, IncidentCount>();
  /** Those that are resolved, and have destinations that have not heard of it. */
  readonly #unheard = new Set<string>();
  /** What destinations were told, oldest first; not so after `restore`. */
  #sent: { id: string; event: StoredEvent }[] = [];
  #isSentInOrder = true;
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
    return (typeof id === 'number' ? this.#byNumber.get(id) : this.#byId.get(id))?.incident;
  }

  findLatest(key: string): StoredIncident | undefined {
    return this.#latest.get(key)?.incident;
  }

  listEvents(id: string): readonly StoredEvent[] {
    return this.#byId.get(id)?.events ?? [];
  }

  /** Those that are not resolved, and those with destinations that have not heard that they are. */
  listUnsettled(): StoredIncident[] {
    return [...this.#active, ...this.#unheard].map((id) => this.find(id) as StoredIncident);
  }

  listSent({ destination, incident: id }: SentFilter, limit: number, before = Number.POSITIVE_INFINITY) {
    const found: SentNotification[] = [];
    this.#orderSent();
    const events = id === undefined ? this.#sent : this.listEvents(id).map((event) => ({ id, event }));
    for (let at = events.length - 1; at >= 0 && found.length < limit; at -= 1) {
      const { id: of, event } = events[at] as (typeof events)[number];
      const isWanted = destination === undefined || event.destination === destination;
      const incident = isWanted && (event.change ?? before) < before ? this.find(of) : undefined;
      const sent = incident && toSent(incident, event);
      if (sent) found.push(sent);
    }
    return found;
  }

  listDue(until: number): StoredIncident[] {
    if (until < this.#earliestDue) return [];
    const due: StoredIncident[] = [];
    this.#earliestDue = Number.POSITIVE_INFINITY;
    for (const id of this.#active) {
      const incident = this.find(id) as StoredIncident;
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
    this.#orderSent();
    const incidents = [...changed.values()];
    if (incidents.length > 1) incidents.sort((a, b) => a.change - b.change);
    for (const incident of incidents) this.#put(incident);
    for (const { id, event } of events) {
      const entry = this.#byId.get(id);
      if (entry) entry.events = [...entry.events, event].slice(-mostEvents);
      if (event.destination !== undefined) this.#sent.push({ id, event });
    }
    if (this.#sent.length > 2 * mostSent) this.#sent = this.#sent.slice(-mostSent);
  }

  /** No incident has a number up to this one. */
  noteLastNumber(number: number): void {
    this.counters.lastNumber = Math.max(this.counters.lastNumber, number);
  }

  /** Whether incidents are kept no longer at a time. */
  hasForgettable(now: number): boolean {
    return this.#countResolved() > mostResolved || this.#hasOld(now);
  }

  /** Forgets incidents that are kept no longer at a time: with an event, since alerts are folded in steps that differ between instances. */
  forgetOld(now: number): void {
    const isFull = this.#countResolved() > mostResolved;
    const most = isFull ? mostResolved - forgottenCount : mostResolved;
    while (this.#countResolved() > most || this.#hasOld(now)) this.#forgetOldest();
  }

  list(filter: IncidentFilter, limit: number, before = Number.POSITIVE_INFINITY): IncidentList {
    const { states, ...others } = filter;
    const isWhole = Object.values(others).every((value) => value === undefined);
    const isMatch = createFilter(filter);
    const incidents: StoredIncident[] = [];
    let total = 0;
    let hasMore = false;
    // What is not filtered is counted already, so nothing before the page is looked at.
    for (const incident of this.#newestFirst(states, isWhole ? before : Number.POSITIVE_INFINITY)) {
      if (!isMatch(incident)) continue;
      total += 1;
      if (incident.change >= before) continue;
      if (incidents.length < limit) incidents.push(incident);
      else hasMore = true;
      if (hasMore && isWhole) break;
    }
    return {
      total: isWhole ? this.#sum(states) : total,
      incidents,
      next: hasMore ? incidents.at(-1)?.change : undefined,
    };
  }

  /** Those that another state lacks, or has otherwise. */
  listOther(than: Incidents): StoredIncident[] {
    return Array.from(this.#byId.values(), ({ incident }) => incident).filter((incident) => {
      const { change, count, lastAlert } = than.find(incident.id) ?? {};
      return change !== incident.change || count !== incident.count || lastAlert !== incident.lastAlert;
    });
  }

  /** The incident of an alert. */
  nameIncident(alert: StoredRecord): IncidentName | undefined {
    let incident = this.findLatest(toIncidentKey(alert));
    while (incident && !hasAlert(incident.spans, alert.seq)) incident = this.find(incident.previous ?? '');
    return incident;
  }

  count(): IncidentCount[] {
    return incidentStates.flatMap((state) =>
      severities.map((level) => this.#counts.get(`${state} ${level}`) ?? { state, level, count: 0 }),
    );
  }

  /** What `restore` makes this state of, some at a time, in the order of changes; later changes do not matter to it. */
  entries(): Iterable<readonly StateEntry[]> {
    const { counters, rules } = this;
    const all = Array.from(this.#byId.values(), ({ incident, events }) => ({ incident, events }));
    all.sort((a, b) => a.incident.change - b.incident.change);
    return toPieces([{ counters: { ...counters }, rules }], all);
  }

  /** Takes over an entry of another state, unless it is damaged. Counters follow from the incidents, too: some may be lost. */
  restore(entry: StateEntry): void {
    if ('counters' in entry) {
      const { lastNumber, lastChange, oldUntil } = entry.counters;
      this.noteLastNumber(toWhole(lastNumber));
      this.counters.lastChange = Math.max(this.counters.lastChange, toWhole(lastChange));
      this.counters.oldUntil = toWhole(oldUntil);
      this.rules = { ...this.#rules, ...entry.rules };
      return;
    }
    if (!isIncidentEntry(entry)) return;
    const { incident, events } = entry;
    this.#put(completeIncident(incident)).events = events;
    this.noteLastNumber(incident.number);
    this.counters.lastChange = Math.max(this.counters.lastChange, incident.change);
    this.counters.active = this.#active.size;
    for (const event of events) if (event.destination !== undefined) this.#sent.push({ id: incident.id, event });
    this.#isSentInOrder = false;
  }

  #orderSent(): void {
    if (this.#isSentInOrder) return;
    this.#sent = this.#sent.sort((a, b) => (a.event.change ?? 0) - (b.event.change ?? 0)).slice(-mostSent);
    this.#isSentInOrder = true;
  }

  #put(incident: StoredIncident): Entry {
    const { id, number, key, state, level, change } = incident;
    const known = this.#byId.get(id);
    const entry = known ?? { incident, events: [], change: 0 };
    if (known) this.#add(known.incident, -1);
    this.#add({ state, level }, 1);
    entry.incident = incident;
    if (!known) {
      this.#byId.set(id, entry);
      this.#byNumber.set(number, entry);
    }
    const latest = this.findLatest(key);
    if (!latest || latest.number <= number) this.#latest.set(key, entry);
    if (state === 'resolved') this.#active.delete(id);
    else this.#active.add(id);
    if (state === 'resolved' && Object.keys(incident.notices).length > 0) this.#unheard.add(id);
    else this.#unheard.delete(id);
    if (entry.change !== change) {
      entry.change = change;
      this.#orders[state === 'resolved' ? 'resolved' : 'active'].add(entry);
    }
    this.#earliestDue = Math.min(this.#earliestDue, dueAt(incident, this.#rules));
    return entry;
  }

  /** Whether the oldest incident was resolved too long ago. */
  #hasOld(now: number): boolean {
    const { retainMs } = this.#rules;
    const resolvedAt = retainMs ? this.#orders.resolved.first()?.resolved?.at : undefined;
    return resolvedAt !== undefined && resolvedAt < now - retainMs;
  }

  #forgetOldest(): void {
    const oldest = this.#orders.resolved.first();
    if (oldest) this.#forget(oldest);
  }

  #forget(incident: StoredIncident): void {
    const { id, number, key } = incident;
    this.#add(incident, -1);
    const entry = this.#byId.get(id);
    if (entry) entry.change = 0;
    this.#byId.delete(id);
    this.#unheard.delete(id);
    this.#byNumber.delete(number);
    if (this.#latest.get(key) === entry) this.#latest.delete(key);
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

  *#newestFirst(states: readonly IncidentState[], before: number): Generator<StoredIncident> {
    const isActive = states.includes('open') || states.includes('acknowledged');
    const active = isActive ? this.#orders.active.newestFirst(before) : none();
    const resolved = states.includes('resolved') ? this.#orders.resolved.newestFirst(before) : none();
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

const toWhole = (value: unknown): number => (Number.isSafeInteger(value) ? (value as number) : 0);

/** Whether the entry has what every incident has: names of members may be damaged, too. */
const isIncidentEntry = (entry: StateEntry): entry is Extract<StateEntry, { incident: unknown }> => {
  if (!('incident' in entry) || !Array.isArray(entry.events)) return false;
  const { id, number, key, state, change, spans } = entry.incident;
  return (
    typeof id === 'string' &&
    typeof key === 'string' &&
    Number.isSafeInteger(number) &&
    Number.isSafeInteger(change) &&
    incidentStates.includes(state) &&
    Array.isArray(spans)
  );
};

/** Entries are written so many at a time. */
const pieceSize = 100;

function* toPieces(first: StateEntry[], all: StateEntry[]): Generator<StateEntry[]> {
  yield first;
  for (let at = 0; at < all.length; at += pieceSize) yield all.slice(at, at + pieceSize);
}
