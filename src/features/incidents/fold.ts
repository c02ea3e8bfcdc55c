import { toText } from '../../kit/alert-record.ts';
import { rankOf } from '../../kit/severity.ts';
import type { StoredRecord } from '../../storage/journal/line.ts';
import { type Action, applyAction } from './action.ts';
import { extendSpans } from './alert-spans.ts';
import { describeAlert, overflowDescription, updateDescription } from './description.ts';
import { Draft } from './draft.ts';
import { type FoldedAlert, overflowProblem, toIncidentId } from './folded-alert.ts';
import type { StoredIncident } from './incident.ts';
import { acknowledge, expire, mostActive, reopen, resolve } from './transitions.ts';

/**
 * Step from one state of the incidents to the next. Folds alerts, actions and time. Uses neither a clock nor
 * randomness, so every replay of the log produces the same incidents.
 */
export class Fold extends Draft {
  /** Folds the next alert in the log. */
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
        this.#begin(alert, overflowProblem, this.findLatest(overflowProblem));
      }
    }
  }

  /** Advances the time. Acknowledgements expire, and incidents without new alerts are resolved. */
  advance(to: number): void {
    for (let due = this.takeDue(to); due; due = this.takeDue(to)) expire(this, due.incident, due.at);
  }

  /**
   * Applies an action and returns the changed incident. Undefined for an unknown incident. Throws an HttpError if the
   * state forbids the action, and a StoreConflict if the version is unexpected.
   */
  act(action: Action, expected?: readonly number[]): StoredIncident | undefined {
    const incident = this.find(action.id);
    return incident && applyAction(this, incident, action, expected);
  }

  #mayOpen({ severity }: FoldedAlert): boolean {
    return rankOf(severity) <= rankOf(this.rules.level);
  }

  /** Counts an alert without an active incident. Uses the latest incident with the key, or a new incident. */
  #begin(alert: FoldedAlert, key: string, latest: StoredIncident | undefined): void {
    if (latest && !latest.resolved) this.#repeat(latest, alert);
    else if (latest?.resolved && alert.at - latest.resolved.at <= this.rules.reopenMs) this.#reopen(latest, alert);
    else this.#open(alert, key, latest);
  }

  #open(alert: FoldedAlert, key: string, latest: StoredIncident | undefined): void {
    const { at, severity, seq, id, record } = alert;
    const description = key === overflowProblem ? overflowDescription : describeAlert(alert);
    this.counters.lastNumber += 1;
    this.counters.active += 1;
    this.measured.opened += 1;
    // Members are listed because spreading would take most of the time in an alert storm.
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
    this.add(incident);
    this.noteDue(this.change(incident, {}, { at, type: 'opened', level: severity, alert: id, ...toSender(record) }));
  }

  /** Counts an alert in its active incident. The level of the incident follows the level of the alert. */
  #repeat(incident: StoredIncident, alert: FoldedAlert): void {
    const { at, severity, id, record } = alert;
    const rise = rankOf(incident.level) - rankOf(severity);
    const counted = this.#count(incident, alert);
    if (rise === 0) return;
    const event = { at, level: severity, alert: id, ...toSender(record) };
    if (rise < 0) {
      // The alerts in the overflow incident have unrelated causes, so no alert lowers its level.
      const isLowered = this.#mayOpen(alert) && counted.trait !== 'overflow';
      if (isLowered) this.change(counted, { level: severity }, { ...event, type: 'lowered' });
      return;
    }
    const levels = {
      level: severity,
      highestLevel: toHigher(severity, counted.highestLevel),
      raisedAt: at,
      ...restartEscalation(counted),
    };
    this.change(counted, levels, { ...event, type: 'raised' });
    if (counted.state === 'acknowledged') {
      reopen(this, counted, { at, type: 'reopened', alert: id, ...toSender(record) }, { raisedAt: at });
    }
  }

  #resolveBySender(incident: StoredIncident, alert: FoldedAlert): void {
    const counted = this.#count(incident, alert);
    counted.endsBySender = true;
    const isQuiet = alert.record['expired'] === true;
    const by = isQuiet ? null : (toSender(alert.record).by ?? null);
    resolve(this, counted, { by, at: alert.at, reason: isQuiet ? 'quiet' : 'sender' }, { alert: alert.id });
  }

  /**
   * Acknowledges an open incident on behalf of its sender. An incident that is already acknowledged keeps its
   * acknowledger.
   */
  #acknowledgeBySender(incident: StoredIncident, alert: FoldedAlert): void {
    const counted = this.#count(incident, alert);
    const { at, record, id } = alert;
    const by = toText(record['sender']);
    if (counted.state === 'open') acknowledge(this, counted, { at, by }, { alert: id });
  }

  #reopen(incident: StoredIncident, alert: FoldedAlert): void {
    const { at, severity, id, record, seq } = alert;
    const event = { at, type: 'reopened', level: severity, alert: id, ...toSender(record) } as const;
    const levels = { level: severity, highestLevel: toHigher(severity, incident.highestLevel) };
    this.#count(reopen(this, incident, event, levels, seq), alert);
  }

  #count(incident: StoredIncident, alert: FoldedAlert): StoredIncident {
    const changed = this.edit(incident);
    changed.count += 1;
    // The clock may have been set back.
    changed.firstAt = Math.min(changed.firstAt, alert.at);
    changed.lastAt = Math.max(changed.lastAt, alert.at);
    changed.spans = extendSpans(changed.spans, alert.seq);
    changed.lastAlert = alert.id;
    if (changed.trait !== 'overflow') updateDescription(changed, alert);
    this.noteDue(changed);
    return changed;
  }
}

/** Restarts the escalation. Adds no member to an incident without a policy. */
const restartEscalation = ({ escalation }: StoredIncident): Partial<StoredIncident> =>
  escalation ? { escalation: null } : {};

const toHigher = (one: StoredIncident['level'], other: StoredIncident['level']): StoredIncident['level'] =>
  rankOf(one) < rankOf(other) ? one : other;

const toSender = ({ sender }: StoredRecord): { by?: string } => (typeof sender === 'string' ? { by: sender } : {});
