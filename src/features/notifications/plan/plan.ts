import type { NotificationKind, NotificationState, SharedIncident } from '../../../kit/incident.ts';
import { rankOf, type Severity } from '../../../kit/severity.ts';

/** Hours of the week; times are Unix milliseconds. */
export interface UsableHours {
  isWithin(at: number): boolean;
  /** Returns the first time within the hours at or after `at`. */
  nextWithin(at: number): number;
}

/** Settings of a destination that decide when it is notified of an incident. */
export interface IncidentRules {
  on: ReadonlySet<NotificationKind>;
  /** Milliseconds for which an incident must have been open and not acknowledged. */
  afterMs: number;
  /** Milliseconds between two reminders; undefined without reminders. */
  repeatMs: number | undefined;
  /** Milliseconds for which incidents are collected for one message; 0 sends each alone. */
  groupMs: number;
  /** Hours in which the destination may be notified; undefined for all hours. */
  hours: UsableHours | undefined;
  /** Severities of incidents that do not wait for `hours`. */
  hoursExcept: ReadonlySet<Severity>;
  /** True if the filter of the destination matches the incident. */
  accepts(incident: SharedIncident): boolean;
}

/** Facts beside the incident and the settings that decide about a notification. */
export interface Circumstances {
  /** Unix milliseconds. */
  now: number;
  isOnCall: boolean;
  isSilenced: boolean;
}

type WaitReason = 'grouping' | 'after' | 'repeat' | 'hours' | 'offDuty' | 'silence';

/** Next notification of an incident to a destination, unless the incident changes before. */
export interface PlannedNotification {
  what: NotificationKind;
  /** Time of the event that the notification reports, in Unix milliseconds; of a reminder, the time at which it is due. */
  happenedAt: number;
  /** Earliest time at which a message may contain it; Infinity if unknown. */
  readyAt: number;
  /** Latest time at which its message is due; Infinity if unknown. */
  dueAt: number;
  /** True if it is sent because nobody has acknowledged the incident. */
  isEscalation: boolean;
  /** Reason why it is not sent earlier. */
  waitsFor: WaitReason;
}

/** Planned notification with its incident. */
export interface PlannedUpdate extends PlannedNotification {
  incident: SharedIncident;
}

/** `forget`: the destination gets nothing more about the incident. */
export type NotificationPlan = PlannedNotification | 'forget' | undefined;

/** A stored time that is further in the future was stored before the clock was set back. */
const clockSlackMs = 60_000;

type Wanted = Pick<PlannedNotification, 'what' | 'happenedAt' | 'isEscalation'> & {
  /** Start of the minutes of `after` or `repeat`. */
  since?: number;
  waitsFor: 'grouping' | 'after' | 'repeat';
};

/**
 * Returns the next notification of an incident to a destination. The plan follows from stored state and the time, so it is never stored
 * itself: a change of the incident gives another plan.
 */
export const planNotification = (
  incident: SharedIncident,
  last: NotificationState | undefined,
  rules: IncidentRules,
  circumstances: Circumstances,
): NotificationPlan => {
  if (incident.isOld) return last && 'forget';
  const wanted =
    incident.state === 'resolved' ? planResolution(incident, last, rules) : planUnresolved(incident, last, rules);
  return wanted === undefined || wanted === 'forget' ? wanted : addTimes(wanted, incident, rules, circumstances);
};

/** Everyone notified of an incident also gets its resolution, and nobody else does. */
const planResolution = (
  { resolved, stateSince }: SharedIncident,
  last: NotificationState | undefined,
  { on }: IncidentRules,
): Wanted | 'forget' | undefined => {
  if (!last) return undefined;
  const mayBeNotified = last.isTold || last.isPending;
  if (!mayBeNotified || !on.has('resolved')) return 'forget';
  return { what: 'resolved', happenedAt: resolved?.at ?? stateSince, isEscalation: false, waitsFor: 'grouping' };
};

const planUnresolved = (
  incident: SharedIncident,
  stored: NotificationState | undefined,
  rules: IncidentRules,
): Wanted | undefined => {
  const { state, openings } = incident;
  const last = stored?.isPending ? undefined : stored;
  if (!rules.accepts(incident)) return undefined;
  const isCurrent = last?.opening === openings;
  if (state === 'acknowledged') return planAcknowledgement(incident, last, isCurrent, rules);
  return last && isCurrent ? planMore(incident, last, rules) : planOpening(incident, last, rules);
};

/** Destinations that should have got the opening, but did not, do not get the acknowledgement. */
const planAcknowledgement = (
  { acknowledged, stateSince }: SharedIncident,
  last: NotificationState | undefined,
  isCurrent: boolean,
  { on }: IncidentRules,
): Wanted | undefined => {
  const isSent = isCurrent && last?.what === 'acknowledged';
  const isUnnotified = !last && on.has('opened');
  if (!on.has('acknowledged') || isSent || isUnnotified) return undefined;
  const happenedAt = acknowledged?.at ?? stateSince;
  return { what: 'acknowledged', happenedAt, isEscalation: false, waitsFor: 'grouping' };
};

/** Plans a rise of the level or a reminder, for a destination that was notified of the opening. */
const planMore = (
  { level, raisedAt, stateSince }: SharedIncident,
  last: NotificationState,
  { on, repeatMs }: IncidentRules,
): Wanted | undefined => {
  if (on.has('raised') && rankOf(level) < rankOf(last.level)) {
    return { what: 'raised', happenedAt: raisedAt ?? stateSince, isEscalation: false, waitsFor: 'grouping' };
  }
  if (repeatMs === undefined) return undefined;
  const since = last.at;
  return { what: 'reminder', since, happenedAt: since + repeatMs, isEscalation: false, waitsFor: 'repeat' };
};

/** Plans the first notification since the incident became open, for the first time or again. */
const planOpening = (
  { level, raisedAt, stateSince }: SharedIncident,
  last: NotificationState | undefined,
  { on, afterMs, repeatMs }: IncidentRules,
): Wanted | undefined => {
  const isRaised = last ? rankOf(level) < rankOf(last.level) : raisedAt !== null && !on.has('opened');
  const happenedAt = stateSince + afterMs;
  const opening = {
    since: stateSince,
    isEscalation: afterMs > 0,
    waitsFor: afterMs > 0 ? 'after' : 'grouping',
  } as const;
  if (isRaised && on.has('raised')) {
    return { what: 'raised', happenedAt: Math.max(happenedAt, raisedAt ?? 0), ...opening };
  }
  if (on.has('opened')) return { what: 'opened', happenedAt, ...opening };
  if (repeatMs === undefined) return undefined;
  const reminder = { since: stateSince, happenedAt: happenedAt + repeatMs, isEscalation: false } as const;
  return { what: 'reminder', ...reminder, waitsFor: 'repeat' };
};

const never = { readyAt: Number.POSITIVE_INFINITY, dueAt: Number.POSITIVE_INFINITY };

/** Returns the notification with its times. */
const addTimes = (
  wanted: Wanted,
  { level }: SharedIncident,
  { hours, hoursExcept, groupMs }: IncidentRules,
  { now, isOnCall, isSilenced }: Circumstances,
): PlannedNotification => {
  if (isSilenced) return { ...wanted, ...never, waitsFor: 'silence' };
  const isForOnCall = wanted.what === 'opened' || wanted.what === 'raised' || wanted.what === 'reminder';
  if (isForOnCall && !isOnCall) return { ...wanted, ...never, waitsFor: 'offDuty' };
  const { happenedAt } = wanted;
  // The event's age is unknown. Early is better than late by the time by which the clock was set back.
  const isSetBack = (wanted.since ?? happenedAt) > now + clockSlackMs;
  const from = isSetBack ? now - groupMs : happenedAt;
  if (hours && !hoursExcept.has(level)) {
    // A notification that became ready within the hours is sent, even if they end while others are collected.
    const at = Math.max(from, now - groupMs);
    const readyAt = hours.isWithin(at) ? from : hours.nextWithin(at);
    if (readyAt > from) return { ...wanted, readyAt, dueAt: readyAt + groupMs, waitsFor: 'hours' };
  }
  const waitsFor = from <= now ? 'grouping' : wanted.waitsFor;
  return { ...wanted, readyAt: from, dueAt: from + groupMs, waitsFor };
};

export const isPlanned = (plan: NotificationPlan): plan is PlannedNotification =>
  plan !== undefined && plan !== 'forget';

/** True if a message may contain the notification now. */
export const isReady = (plan: NotificationPlan, now: number): plan is PlannedNotification =>
  isPlanned(plan) && plan.readyAt <= now;
