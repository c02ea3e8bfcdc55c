import type { IncidentState } from '../../kit/incident.ts';
import type { SentFilter, SentNotification } from '../../kit/incident-source.ts';
import type { StoredRecord } from '../../storage/journal/line.ts';
import { hasAlert } from './alert-spans.ts';
import { type Changed, ChangeOrder, mergeNewestFirst } from './change-order.ts';
import type { Counters, Draft, IncidentsBefore } from './draft.ts';
import { toProblemId } from './folded-alert.ts';
import { mostEvents, type StoredEvent, type StoredIncident } from './incident.ts';
import { type IncidentCount, IncidentCounts } from './incident-counts.ts';
import { type IncidentFilter, type IncidentList, listIncidents } from './incident-list.ts';
import { dueAt, type Rules } from './rules.ts';
import { listSent, SentNotifications } from './sent-notifications.ts';
import { completeIncident, isIncidentEntry, type SnapshotEntry, toEntryPieces } from './snapshot-entries.ts';

/** Maximum number of resolved incidents kept. */
export const mostResolved = 100_000;

/**
 * Number of resolved incidents that are forgotten together once the maximum is exceeded. Each removal costs an event.
 */
export const forgottenCount = 1000;

/** Incident in memory. */
interface Entry extends Changed {
  events: readonly StoredEvent[];
}

/** Id and number of an incident. */
export type IncidentName = Pick<StoredIncident, 'id' | 'number'>;

/** All incidents in memory, with indexes. */
export class Incidents implements IncidentsBefore {
  counters: Counters = { lastNumber: 0, lastChange: 0, active: 0, oldUntil: 0 };
  #rules: Rules;
  readonly #byId = new Map<string, Entry>();
  readonly #byNumber = new Map<number, Entry>();
  /** Latest incident with each key. */
  readonly #latest = new Map<string, Entry>();
  /** Ids of open and acknowledged incidents. */
  readonly #active = new Set<string>();
  /** Ids of resolved incidents whose resolution has not yet reached every destination. */
  readonly #unsettled = new Set<string>();
  readonly #orders = { active: new ChangeOrder(), resolved: new ChangeOrder() };
  readonly #counts = new IncidentCounts();
  readonly #sent = new SentNotifications();
  /** Time before which no incident becomes due. */
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

  /** Number of incidents. */
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

  /** Lists active incidents, and resolved incidents whose resolution has not yet reached every destination. */
  listUnsettled(): StoredIncident[] {
    return [...this.#active, ...this.#unsettled].map((id) => this.find(id) as StoredIncident);
  }

  /** Lists active incidents, and incidents resolved since a time in Unix milliseconds. */
  listSince(since: number): StoredIncident[] {
    const ended = [...this.#orders.resolved.newestFirst(Number.POSITIVE_INFINITY)];
    return [
      ...Array.from(this.#active, (id) => this.find(id) as StoredIncident),
      ...ended.filter(({ resolved }) => resolved && resolved.at >= since),
    ];
  }

  /** Lists notifications, newest first. */
  listSent(filter: SentFilter, limit: number, before?: number): SentNotification[] {
    const { incident: id } = filter;
    const events = id === undefined ? this.#sent.all() : this.listEvents(id).map((event) => ({ id, event }));
    return listSent(events, (of) => this.find(of), filter, limit, before);
  }

  listDue(until: number): StoredIncident[] {
    if (until < this.#earliestDue) return [];
    const due: { incident: StoredIncident; at: number }[] = [];
    this.#earliestDue = Number.POSITIVE_INFINITY;
    for (const id of this.#active) {
      const incident = this.find(id) as StoredIncident;
      const at = dueAt(incident, this.#rules);
      if (at <= until) due.push({ incident, at });
      this.#earliestDue = Math.min(this.#earliestDue, at);
    }
    due.sort((a, b) => a.at - b.at || a.incident.number - b.incident.number);
    return due.map(({ incident }) => incident);
  }

  list(filter: IncidentFilter, limit: number, before?: number): IncidentList {
    const all = {
      newestFirst: this.#newestFirst.bind(this),
      count: (states: readonly IncidentState[]) => this.#counts.sum(states),
    };
    return listIncidents(all, filter, limit, before);
  }

  /** Lists incidents that another state lacks or has in a different version. */
  listOther(than: Incidents): StoredIncident[] {
    return Array.from(this.#byId.values(), ({ incident }) => incident).filter((incident) => {
      const { change, count, lastAlert } = than.find(incident.id) ?? {};
      return change !== incident.change || count !== incident.count || lastAlert !== incident.lastAlert;
    });
  }

  /** Returns the id and number of the incident to which an alert belongs. */
  nameIncident(alert: StoredRecord): IncidentName | undefined {
    let incident = this.findLatest(toProblemId(alert));
    while (incident && !hasAlert(incident.spans, alert.seq)) {
      const previous = this.find(incident.previous ?? '');
      incident = previous && previous.number < incident.number ? previous : undefined;
    }
    return incident;
  }

  count(): IncidentCount[] {
    return this.#counts.list();
  }

  /** Applies the changes made by a step. */
  take({ changed, events, counters }: Draft): void {
    this.counters = counters;
    const incidents = [...changed.values()];
    if (incidents.length > 1) incidents.sort((a, b) => a.change - b.change);
    for (const incident of incidents) this.#put(incident);
    for (const { id, event } of events) {
      const entry = this.#byId.get(id);
      if (entry) entry.events = [...entry.events, event].slice(-mostEvents);
      this.#sent.add(id, event);
    }
  }

  /** Raises the last number, so that new incidents get higher numbers. */
  noteLastNumber(number: number): void {
    this.counters.lastNumber = Math.max(this.counters.lastNumber, number);
  }

  /** True if `forgetOld` would forget incidents at this time. */
  hasForgettable(now: number): boolean {
    return this.#countResolved() > mostResolved || this.#hasOld(now);
  }

  /**
   * Forgets the oldest resolved incidents. The time comes from an event, because instances fold alerts in different
   * steps.
   */
  forgetOld(now: number): void {
    const isFull = this.#countResolved() > mostResolved;
    const maxResolved = isFull ? mostResolved - forgottenCount : mostResolved;
    while (this.#countResolved() > maxResolved || this.#hasOld(now)) this.#forgetOldest();
  }

  /** Returns the entries of a snapshot in pieces. Later changes do not affect them. */
  entries(): Iterable<readonly SnapshotEntry[]> {
    const all = Array.from(this.#byId.values(), ({ incident, events }) => ({ incident, events }));
    all.sort((a, b) => a.incident.change - b.incident.change);
    return toEntryPieces({ ...this.counters }, this.rules, all);
  }

  /**
   * Adds a snapshot entry unless it is damaged. Incidents also raise the counters, in case the entry with the counters
   * is lost.
   */
  restore(entry: SnapshotEntry): void {
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
    this.#sent.restore(incident.id, events);
  }

  #put(incident: StoredIncident): Entry {
    const { id, number, key, state, change, notices } = incident;
    const known = this.#byId.get(id);
    const entry = known ?? { incident, events: [], change: 0 };
    if (known) this.#counts.add(known.incident, -1);
    this.#counts.add(incident, 1);
    entry.incident = incident;
    if (!known) {
      this.#byId.set(id, entry);
      this.#byNumber.set(number, entry);
    }
    const latest = this.findLatest(key);
    if (!latest || latest.number <= number) this.#latest.set(key, entry);
    const isResolved = state === 'resolved';
    setMember(this.#active, id, !isResolved);
    setMember(this.#unsettled, id, isResolved && Object.keys(notices).length > 0);
    if (entry.change !== change) {
      entry.change = change;
      this.#orders[isResolved ? 'resolved' : 'active'].add(entry);
    }
    this.#earliestDue = Math.min(this.#earliestDue, dueAt(incident, this.#rules));
    return entry;
  }

  /** True if the oldest resolved incident is older than the retention time. */
  #hasOld(now: number): boolean {
    const { retainMs } = this.#rules;
    const resolvedAt = retainMs ? this.#orders.resolved.first()?.resolved?.at : undefined;
    return resolvedAt !== undefined && resolvedAt < now - retainMs;
  }

  #forgetOldest(): void {
    const { id = '' } = this.#orders.resolved.first() ?? {};
    const entry = this.#byId.get(id);
    if (!entry) return;
    const { incident } = entry;
    entry.change = 0;
    this.#counts.add(incident, -1);
    this.#byId.delete(id);
    this.#unsettled.delete(id);
    this.#byNumber.delete(incident.number);
    if (this.#latest.get(incident.key) === entry) this.#latest.delete(incident.key);
  }

  #countResolved(): number {
    return this.#byId.size - this.#active.size;
  }

  #newestFirst(states: readonly IncidentState[], before: number): Generator<StoredIncident> {
    const { active, resolved } = this.#orders;
    const isActive = states.includes('open') || states.includes('acknowledged');
    return mergeNewestFirst(
      active.newestFirst(isActive ? before : 0),
      resolved.newestFirst(states.includes('resolved') ? before : 0),
    );
  }
}

const setMember = (set: Set<string>, id: string, isMember: boolean): void => {
  if (isMember) set.add(id);
  else set.delete(id);
};

const toWhole = (value: unknown): number => (Number.isSafeInteger(value) ? (value as number) : 0);
