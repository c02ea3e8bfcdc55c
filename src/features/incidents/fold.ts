import { HttpError } from '../../http/errors.ts';
import { toText } from '../../kit/alert-record.ts';
import type { IncidentDelivery } from '../../kit/incident-source.ts';
import { rankOf } from '../../kit/severity.ts';
import type { StoredRecord } from '../../storage/journal/line.ts';
import { type Action, refuseSecondTask, toStaleness } from './action.ts';
import {
  describeAlert,
  type FoldedAlert,
  noteLatest,
  overflowDescription,
  overflowKey,
  type StoredEvent,
  type StoredIncident,
  toIncidentId,
} from './incident.ts';
import { dueAt, type Rules } from './rules.ts';
import { addSpan, extendSpans } from './spans.ts';

/** How many incidents can be open or acknowledged; alerts that would open more are counted in one for all of them. */
export const mostActive = 20_000;

/** What is counted over all incidents. */
export interface Counters {
  /** The number of the last incident, and of the last change. */
  lastNumber: number;
  lastChange: number;
  /** How many are open or acknowledged. */
  active: number;
  /** Alerts up to this seq are from before there were incidents. */
  oldUntil: number;
}

/** What the fold reads of the incidents as they are before a step. */
export interface IncidentsBefore {
  readonly counters: Readonly<Counters>;
  find(id: string): StoredIncident | undefined;
  /** The last one with the key. */
  findLatest(key: string): StoredIncident | undefined;
  /** Those that a time up to this may change, by `dueAt`, the earliest first. */
  listDue(until: number): readonly StoredIncident[];
}

/** What is measured: alerts beyond the most incidents, and how long incidents were open, in milliseconds. */
export interface Measured {
  opened: number;
  overflowed: number;
  toAcknowledge: number[];
  toResolve: number[];
}

export const createMeasured = (): Measured => ({ opened: 0, overflowed: 0, toAcknowledge: [], toResolve: [] });

/**
 * The step from some incidents to the next: what alerts, people and time make of them. Nothing else decides it, neither a
 * clock nor chance, so the same alerts and actions in the same order lead to the same incidents. The incidents before it
 * stay as they are until a store takes over what has changed.
 */
export class Fold {
  readonly #before: IncidentsBefore;
  readonly #rules: Rules;
  /** The incidents that are new or have changed, by id. */
  readonly changed = new Map<string, StoredIncident>();
  /** Their new events in order, each with its number among those of the incident, from 1. */
  readonly events: { id: string; number: number; event: StoredEvent }[] = [];
  readonly counters: Counters;
  /** The number of the last change before the step. */
  readonly changeBefore: number;
  /** Counts what follows; may be replaced between two events. */
  measured = createMeasured();
  /** By key, those that have changed. */
  readonly #latest = new Map<string, StoredIncident>();
  /** Notices of this step alone; few steps have any. */
  #copied: Set<StoredIncident['notices']> | undefined;
  /** Those that a time up to `until` may change, the earliest first. */
  readonly #due: { id: string; number: number; at: number }[];
  readonly #until: number;

  /** No time after `until` may come. */
  constructor(before: IncidentsBefore, rules: Rules, until: number) {
    this.#before = before;
    this.#rules = rules;
    this.#until = until;
    this.counters = { ...before.counters };
    this.changeBefore = before.counters.lastChange;
    this.#due = before.listDue(until).map((incident) => toDue(incident, rules));
  }

  find(id: string): StoredIncident | undefined {
    return this.changed.get(id) ?? this.#before.find(id);
  }

  findLatest(key: string): StoredIncident | undefined {
    return this.#latest.get(key) ?? this.#before.findLatest(key);
  }

  /** Folds the next alert of the log. */
  addAlert(alert: FoldedAlert): void {
    this.advance(alert.at);
    const latest = this.findLatest(alert.key);
    if (latest && latest.state !== 'resolved') {
      if (alert.isResolved) this.#resolveBySender(latest, alert);
      else if (alert.isAcknowledgement) this.#acknowledgeBySender(latest, alert);
      else this.#repeat(latest, alert);
    } else if (!alert.isResolved && !alert.isAcknowledgement && this.#mayOpen(alert)) {
      if (this.counters.active < mostActive) this.#begin(alert, alert.key, latest);
      else {
        this.measured.overflowed += 1;
        this.#begin(alert, overflowKey, this.findLatest(overflowKey));
      }
    }
  }

  /** Lets time pass up to this: acknowledgements end, and incidents of which nothing is heard. */
  advance(to: number): void {
    for (let first = this.#due[0]; first && first.at <= to; first = this.#due[0]) {
      this.#due.shift();
      const incident = this.find(first.id);
      if (incident && dueAt(incident, this.#rules) === first.at) this.#pass(incident, first.at);
    }
  }

  /** Does what a person wants, and returns the incident as it is then. Throws an HttpError or a StoreConflict. */
  act(action: Action, expected?: readonly number[]): StoredIncident | undefined {
    const incident = this.find(action.id);
    if (!incident) return undefined;
    if (expected && !expected.includes(incident.version)) throw toStaleness(incident);
    const { at, by } = action;
    switch (action.type) {
      case 'acknowledge':
        if (incident.state === 'resolved') {
          throw new HttpError('wrong-state', `Incident #${incident.number} is resolved: reopen it first`);
        }
        return this.#acknowledge(incident, action);
      case 'resolve':
        if (incident.state === 'resolved') return incident;
        return this.#resolve(incident, { by, at, reason: 'person' }, toComment(action));
      case 'reopen':
        return incident.state === 'open' ? incident : this.#reopenByPerson(incident, at, by);
      case 'comment':
        return this.#change(incident, {}, { at, type: 'comment', by, ...toComment(action) });
      case 'task':
        if (incident.task !== null) throw refuseSecondTask(incident);
        return this.#change(incident, { task: action.task }, { at, type: 'taskCreated', by, task: action.task });
      case 'notify':
        return this.#notify(incident, action);
      case 'attempt':
        return this.#attempt(incident, action);
      case 'forget':
        return this.#forget(incident, action.destinations);
      case 'silence':
        return this.#silence(incident, at, by);
      case 'snapshot':
        return this.#noteSnapshot(incident, action);
    }
  }

  #mayOpen({ severity }: FoldedAlert): boolean {
    return rankOf(severity) <= rankOf(this.#rules.level);
  }

  /** Counts an alert for which no incident is active in one with the key: the last one of these, or a new one. */
  #begin(alert: FoldedAlert, key: string, latest: StoredIncident | undefined): void {
    if (latest && !latest.resolved) this.#repeat(latest, alert);
    else if (latest?.resolved && alert.at - latest.resolved.at <= this.#rules.reopenMs) this.#reopen(latest, alert);
    else this.#open(alert, key, latest);
  }

  #open(alert: FoldedAlert, key: string, latest: StoredIncident | undefined): void {
    const { at, severity, seq, id, record } = alert;
    const description = key === overflowKey ? overflowDescription : describeAlert(alert);
    this.counters.lastNumber += 1;
    this.counters.active += 1;
    this.measured.opened += 1;
    // Member by member: in a storm, spreading would be most of the work.
    const incident: StoredIncident = {
      id: toIncidentId(alert),
      number: this.counters.lastNumber,
      key,
      about: description.about,
      trait: description.trait,
      sender: description.sender,
      state: 'open',
      level: severity,
      highestLevel: severity,
      title: description.title,
      source: description.source,
      hostname: description.hostname,
      labels: description.labels,
      link: description.link,
      count: 1,
      firstAt: at,
      lastAt: at,
      openedAt: at,
      stateSince: at,
      openings: 1,
      raisedAt: null,
      acknowledged: null,
      resolved: null,
      reopened: 0,
      task: null,
      snapshot: null,
      endsBySender: description.endsBySender || latest?.endsBySender === true,
      isOld: seq <= this.counters.oldUntil || record['imported'] === true,
      notices: {},
      silenced: null,
      lastEvent: 0,
      version: 0,
      change: 0,
      spans: [[seq, seq]],
      lastAlert: id,
      firingAlert: id,
      previous: latest?.id ?? null,
    };
    // It is new, so it needs no copy.
    this.changed.set(incident.id, incident);
    this.#latest.set(key, incident);
    this.#noteDue(this.#change(incident, {}, { at, type: 'opened', level: severity, alert: id, ...toSender(record) }));
  }

  /** Counts an alert about an incident that is open or acknowledged, and follows its level. */
  #repeat(incident: StoredIncident, alert: FoldedAlert): void {
    const { at, severity, id: alertId, record } = alert;
    const change = rankOf(incident.level) - rankOf(severity);
    const counted = this.#count(incident, alert);
    // What does not open an incident says little of one, and what others are about says nothing of the worst of all.
    if (change === 0 || (change < 0 && (!this.#mayOpen(alert) || counted.trait === 'overflow'))) return;
    const event = { at, level: severity, alert: alertId, ...toSender(record) };
    const highestLevel = rankOf(severity) < rankOf(counted.highestLevel) ? severity : counted.highestLevel;
    const levels = { level: severity, highestLevel };
    if (change < 0) {
      this.#change(counted, levels, { ...event, type: 'lowered' });
    } else if (counted.state === 'acknowledged') {
      this.#change(counted, { ...levels, raisedAt: at }, { ...event, type: 'raised' });
      const reopened = {
        ...{ state: 'open' as const, stateSince: at, acknowledged: null },
        ...{ reopened: counted.reopened + 1, openings: counted.openings + 1 },
      };
      this.#noteDue(this.#change(counted, reopened, { at, type: 'reopened', alert: alertId, ...toSender(record) }));
    } else {
      this.#change(counted, { ...levels, raisedAt: at }, { ...event, type: 'raised' });
    }
  }

  #resolveBySender(incident: StoredIncident, alert: FoldedAlert): void {
    const counted = this.#count(incident, alert);
    counted.endsBySender = true;
    const isQuiet = alert.record['expired'] === true;
    const by = isQuiet ? null : (toSender(alert.record).by ?? null);
    this.#resolve(counted, { by, at: alert.at, reason: isQuiet ? 'quiet' : 'sender' }, { alert: alert.id });
  }

  /** Whoever has acknowledged the incident before keeps it. */
  #acknowledgeBySender(incident: StoredIncident, alert: FoldedAlert): void {
    const counted = this.#count(incident, alert);
    const { at, record, id } = alert;
    const by = toText(record['sender']);
    if (counted.state === 'open') this.#acknowledge(counted, { at, by }, { alert: id });
  }

  #reopen(incident: StoredIncident, alert: FoldedAlert): void {
    const { at, severity, id, record, seq } = alert;
    this.counters.active += 1;
    const highestLevel = rankOf(severity) < rankOf(incident.highestLevel) ? severity : incident.highestLevel;
    const changed = this.#change(
      incident,
      {
        ...{ state: 'open', stateSince: at, openedAt: at, acknowledged: null, resolved: null },
        ...{ reopened: incident.reopened + 1, openings: incident.openings + 1, raisedAt: null },
        ...{ level: severity, highestLevel },
        spans: addSpan(incident.spans, seq),
      },
      { at, type: 'reopened', level: severity, alert: id, ...toSender(record) },
    );
    this.#count(changed, alert);
  }

  #reopenByPerson(incident: StoredIncident, at: number, by: string): StoredIncident {
    const isResolved = incident.state === 'resolved';
    if (isResolved) {
      const latest = this.findLatest(incident.key);
      if (latest && latest.id !== incident.id) {
        const clause = latest.state === 'resolved' ? 'reopen that one' : 'that one is not resolved';
        throw new HttpError('wrong-state', `Incident #${latest.number} is about the same and newer: ${clause}`);
      }
      if (this.counters.active >= mostActive) {
        throw new HttpError('wrong-state', `${mostActive} incidents are open: resolve one before you reopen another`);
      }
      this.counters.active += 1;
    }
    const changed = this.#change(
      incident,
      {
        ...{ state: 'open', stateSince: at, acknowledged: null, resolved: null, reopened: incident.reopened + 1 },
        ...{ openings: incident.openings + 1, raisedAt: null },
        ...(isResolved && { openedAt: at, spans: addSpan(incident.spans) }),
      },
      { at, type: 'reopened', by },
    );
    this.#noteDue(changed);
    return changed;
  }

  #acknowledge(
    incident: StoredIncident,
    { at, by, comment, until }: Pick<Extract<Action, { type: 'acknowledge' }>, 'at' | 'by' | 'comment' | 'until'>,
    details: Pick<StoredEvent, 'alert'> = {},
  ): StoredIncident {
    if (incident.state === 'open') this.measured.toAcknowledge.push(Math.max(0, at - incident.stateSince));
    const changed = this.#change(
      incident,
      {
        acknowledged: { by, at, until: until ?? null, comment: comment ?? null },
        ...(incident.state === 'open' && { state: 'acknowledged', stateSince: at }),
      },
      { at, type: 'acknowledged', by, ...toComment({ comment }), ...(until !== undefined && { until }), ...details },
    );
    this.#noteDue(changed);
    return changed;
  }

  #resolve(
    incident: StoredIncident,
    resolved: NonNullable<StoredIncident['resolved']>,
    details: Pick<StoredEvent, 'comment' | 'alert'> = {},
  ): StoredIncident {
    const { at, by, reason } = resolved;
    this.counters.active -= 1;
    this.measured.toResolve.push(Math.max(0, at - incident.openedAt));
    const event = { at, type: 'resolved', by, reason, ...details } as const;
    return this.#change(incident, { state: 'resolved', stateSince: at, resolved }, event);
  }

  /** A destination was told, or refuses for good to be. */
  #notify(
    incident: StoredIncident,
    { at, destination, what, level, opening, result, ...of }: IncidentDelivery & { at: number },
  ) {
    const isTold = of.isDelivered || incident.notices[destination]?.isTold === true;
    const type = what === 'reminder' ? what : of.isEscalation ? 'escalated' : 'notified';
    const changed = this.#note(incident, { at, type, what, level, destination, result });
    const notices = this.#editNotices(changed);
    delete notices[destination];
    // An incident that was opened again meanwhile is told as a new one.
    if (what !== 'resolved') notices[destination] = { what, level, at, opening, isTold };
    return changed;
  }

  #forget(incident: StoredIncident, destinations: readonly string[]): StoredIncident {
    const known = destinations.filter((name) => Object.hasOwn(incident.notices, name));
    if (known.length === 0) return incident;
    const changed = this.#touch(incident);
    const notices = this.#editNotices(changed);
    for (const name of known) delete notices[name];
    return changed;
  }

  /** Without an event. */
  #attempt(incident: StoredIncident, { at, destination }: { at: number; destination: string }): StoredIncident {
    if (incident.notices[destination]) return incident;
    const changed = this.#touch(incident);
    const { level } = changed;
    this.#editNotices(changed)[destination] = { what: 'opened', level, at, opening: 0, isTold: false, isPending: true };
    return changed;
  }

  /** A copy of the notices that may be changed until the step is taken over: a hundred destinations may tell of an incident. */
  #editNotices(changed: StoredIncident): StoredIncident['notices'] {
    this.#copied ??= new Set();
    if (!this.#copied.has(changed.notices)) {
      changed.notices = { ...changed.notices };
      this.#copied.add(changed.notices);
    }
    return changed.notices;
  }

  /** Once for each time that it becomes open or is raised. */
  #silence(incident: StoredIncident, at: number, by: string): StoredIncident {
    const { state, silenced, level, openings } = incident;
    const isNoted = silenced && silenced.opening === openings && rankOf(silenced.level) <= rankOf(level);
    if (state === 'resolved' || isNoted) return incident;
    const changed = this.#note(incident, { at, type: 'silenced', by, level });
    changed.silenced = { level, opening: openings };
    return changed;
  }

  #noteSnapshot(incident: StoredIncident, { at, by, takenAt, isKept }: Extract<Action, { type: 'snapshot' }>) {
    const { snapshot } = incident;
    if (isKept ? snapshot !== null : !snapshot?.isKept) return incident;
    const changed = isKept ? this.#note(incident, { at, type: 'snapshotTaken', by }) : this.#touch(incident);
    changed.snapshot = { at: takenAt, isKept };
    return changed;
  }

  /** What time alone does. */
  #pass(incident: StoredIncident, at: number): void {
    if (incident.state === 'acknowledged' && incident.acknowledged?.until === at) {
      const openings = incident.openings + 1;
      const changes = { state: 'open', stateSince: at, acknowledged: null, openings, raisedAt: null } as const;
      this.#noteDue(this.#change(incident, changes, { at, type: 'snoozeEnded' }));
    } else {
      this.#resolve(incident, { by: null, at, reason: 'quiet' });
    }
  }

  /** The incident with one alert more. */
  #count(incident: StoredIncident, alert: FoldedAlert): StoredIncident {
    const changed = this.#edit(incident);
    changed.count += 1;
    // A clock that was set back makes a later alert the earliest.
    changed.firstAt = Math.min(changed.firstAt, alert.at);
    changed.lastAt = Math.max(changed.lastAt, alert.at);
    changed.spans = extendSpans(changed.spans, alert.seq);
    if (changed.trait === 'overflow') changed.lastAlert = alert.id;
    else noteLatest(changed, alert);
    this.#noteDue(changed);
    return changed;
  }

  #change(incident: StoredIncident, changes: Partial<StoredIncident>, event: StoredEvent): StoredIncident {
    const changed = Object.assign(this.#note(incident, event), changes);
    changed.version += 1;
    return changed;
  }

  /** An event that changes nothing for people. */
  #note(incident: StoredIncident, event: StoredEvent): StoredIncident {
    const changed = this.#touch(incident);
    changed.lastEvent += 1;
    if (event.destination !== undefined) event.change = changed.change;
    this.events.push({ id: changed.id, number: changed.lastEvent, event });
    return changed;
  }

  /** A copy that all learn of. */
  #touch(incident: StoredIncident): StoredIncident {
    const changed = this.#edit(incident);
    this.counters.lastChange += 1;
    changed.change = this.counters.lastChange;
    return changed;
  }

  /** A copy that may be changed until the step is taken over. */
  #edit(incident: StoredIncident): StoredIncident {
    const known = this.changed.get(incident.id);
    if (known) return known;
    const copy = { ...incident };
    this.changed.set(copy.id, copy);
    const latest = this.findLatest(copy.key);
    if (!latest || latest.number <= copy.number) this.#latest.set(copy.key, copy);
    return copy;
  }

  /** Where an incident becomes due within this step. */
  #noteDue(incident: StoredIncident): void {
    if (dueAt(incident, this.#rules) > this.#until) return;
    const due = toDue(incident, this.#rules);
    const place = this.#due.findIndex(({ at, number }) => at > due.at || (at === due.at && number > due.number));
    this.#due.splice(place < 0 ? this.#due.length : place, 0, due);
  }
}

const toDue = (incident: StoredIncident, rules: Rules) => ({
  id: incident.id,
  number: incident.number,
  at: dueAt(incident, rules),
});

const toComment = ({ comment }: { comment?: string | undefined }): { comment?: string } =>
  comment === undefined ? {} : { comment };

const toSender = ({ sender }: StoredRecord): { by?: string } => (typeof sender === 'string' ? { by: sender } : {});
