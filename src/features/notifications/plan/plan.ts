import type {
  Address,
  NotificationEvent,
  NotificationKind,
  NotificationState,
  SharedIncident,
} from '../../../kit/incident.ts';
import { joinTarget } from '../../../kit/people.ts';
import { rankOf, type Severity } from '../../../kit/severity.ts';

/** Weekly notification hours. Times are Unix milliseconds. */
export interface UsableHours {
  isWithin(at: number): boolean;
  /** Returns the first time within the hours at or after `at`. */
  nextWithin(at: number): number;
}

/** Settings of a destination for incident notifications. */
export interface IncidentRules {
  on: ReadonlySet<NotificationEvent>;
  /** Minimum milliseconds for which an incident must have been open and unacknowledged. */
  afterMs: number;
  /** Milliseconds between the address event for a person and the notification. Default: 0. */
  delayMs?: number;
  /** Milliseconds between two reminders. Undefined without reminders. */
  repeatMs: number | undefined;
  /** Milliseconds for which incidents are collected into one message. With 0, each incident is sent separately. */
  groupMs: number;
  /** Hours during which the destination may be notified. Undefined for always. */
  hours: UsableHours | undefined;
  /** Severities exempt from `hours`. */
  hoursExcept: ReadonlySet<Severity>;
  /** True if the destination's filter matches the incident. */
  accepts(incident: SharedIncident): boolean;
}

/** Facts other than the incident and the settings that affect a notification. */
export interface Circumstances {
  /** Unix milliseconds. */
  now: number;
  isOnCall: boolean;
  isSilenced: boolean;
  /** Time until which the notifications of the incident are held because of a cause. Undefined without a cause. */
  heldUntil?: number | undefined;
  /** Request in this opening to notify the destination. */
  address?: Address | undefined;
  /** True if the destination is notified of this incident only by requests. Its own rules then do not apply. */
  isGoverned?: boolean;
}

type WaitReason = 'grouping' | 'after' | 'repeat' | 'hours' | 'offDuty' | 'silence' | 'cause';

/** Next notification of an incident to a destination. Valid unless the incident changes first. */
export interface PlannedNotification {
  what: NotificationKind;
  /** Time of the reported event, or of the due reminder, in Unix milliseconds. */
  happenedAt: number;
  /** Earliest time at which a message can include the notification. Infinity if unknown. */
  readyAt: number;
  /** Latest time at which the message is due. Infinity if unknown. */
  dueAt: number;
  /** True if the notification is sent because nobody has acknowledged the incident. */
  isEscalation: boolean;
  /** Reason why the notification is not sent earlier. */
  waitsFor: WaitReason;
  /** Address event to which the notification responds. */
  address?: Address;
}

/** Planned notification, with its incident. */
export interface PlannedUpdate extends PlannedNotification {
  incident: SharedIncident;
}

/** Plan for a notification. `forget`: the destination gets no further notifications of the incident. */
export type NotificationPlan = PlannedNotification | 'forget' | undefined;

/** Milliseconds by which a stored time may lie in the future. A later time means that the clock has been set back. */
const clockSlackMs = 60_000;

type Wanted = Pick<PlannedNotification, 'what' | 'happenedAt' | 'isEscalation' | 'address'> & {
  /** Time from which `after` or `repeat` is counted. */
  since?: number;
  waitsFor: 'grouping' | 'after' | 'repeat';
};

/**
 * Returns the next notification of an incident to a destination. The plan follows from the stored state and the time.
 * It is never stored, so any change to the incident leads to a new plan.
 */
export const planNotification = (
  incident: SharedIncident,
  last: NotificationState | undefined,
  rules: IncidentRules,
  circumstances: Circumstances,
): NotificationPlan => {
  if (incident.isOld) return last && 'forget';
  const wanted =
    incident.state === 'resolved'
      ? planResolution(incident, last, rules)
      : planUnresolved(incident, last, rules, circumstances);
  return wanted === undefined || wanted === 'forget' ? wanted : addTimes(wanted, incident, rules, circumstances);
};

/** Returns the latest request in this opening to notify a destination, or the person whom its way reaches. */
export const addressOf = (
  { addressed, openings }: SharedIncident,
  { settings: { name }, way }: { settings: { name: string }; way?: { person: string } },
): Address | undefined => {
  const target = way === undefined ? joinTarget('destination', name) : joinTarget('person', way.person);
  const address = addressed && Object.hasOwn(addressed, target) ? addressed[target] : undefined;
  return address?.opening === openings ? address : undefined;
};

/** Plans the resolution. Everyone notified of an incident also gets its resolution, and nobody else does. */
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
  { address, isGoverned = false }: Circumstances,
): Wanted | undefined => {
  const { state, openings } = incident;
  const last = stored?.isPending ? undefined : stored;
  if (!rules.accepts(incident)) return undefined;
  const isCurrent = last?.opening === openings;
  const asked = address && planAddress(incident, last, address, rules);
  if (asked) return asked;
  if (state === 'acknowledged') return planAcknowledgement(incident, last, isCurrent, rules);
  if (last && isCurrent) return planMore(incident, last, isGoverned ? { ...rules, repeatMs: undefined } : rules);
  return isGoverned ? undefined : planOpening(incident, last, rules);
};

/**
 * Plans the notification of an address event, unless that notification was already sent in this opening. Undefined if
 * there is none.
 */
const planAddress = (
  incident: SharedIncident,
  last: NotificationState | undefined,
  address: Address,
  { delayMs = 0 }: IncidentRules,
): Wanted | undefined => {
  const { state, openings, level, escalation } = incident;
  const { reason, at, times } = address;
  const current = last?.opening === openings ? last : undefined;
  if ((current?.times ?? 0) >= times) return undefined;
  if (reason !== 'step') {
    return { what: 'addressed', since: at, happenedAt: at, isEscalation: false, waitsFor: 'grouping', address };
  }
  if (state !== 'open') return undefined;
  if (last && rankOf(level) < rankOf(last.level)) {
    return { what: 'raised', since: at, happenedAt: at, isEscalation: false, waitsFor: 'grouping', address };
  }
  // A repeated step must not postpone the first notification.
  const since = current ? at : address.firstAt;
  const isLater = escalation ? escalation.round > 0 || escalation.step > 1 : false;
  return {
    what: current ? 'reminder' : 'opened',
    since,
    happenedAt: since + delayMs,
    isEscalation: isLater || delayMs > 0,
    waitsFor: delayMs > 0 ? 'after' : 'grouping',
    address,
  };
};

/** Plans the acknowledgement. Skips destinations that were not notified of the opening. */
const planAcknowledgement = (
  { acknowledged, stateSince }: SharedIncident,
  last: NotificationState | undefined,
  isCurrent: boolean,
  { on }: IncidentRules,
): Wanted | undefined => {
  // Somebody who was asked for help after the acknowledgement already knows about it.
  const isAsked = last?.what === 'addressed' && last.at >= (acknowledged?.at ?? stateSince);
  const isSent = isCurrent && (last?.what === 'acknowledged' || isAsked);
  const isUnnotified = !last && on.has('opened');
  if (!on.has('acknowledged') || isSent || isUnnotified) return undefined;
  const happenedAt = acknowledged?.at ?? stateSince;
  return { what: 'acknowledged', happenedAt, isEscalation: false, waitsFor: 'grouping' };
};

/** Plans a rise in level or a reminder for a destination that has been notified of the opening. */
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

/** Plans the first notification since the incident was opened or reopened. */
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

/** Adds the times to a notification. */
const addTimes = (
  wanted: Wanted,
  { level }: SharedIncident,
  { hours, hoursExcept, groupMs }: IncidentRules,
  { now, isOnCall, isSilenced, heldUntil = now, address }: Circumstances,
): PlannedNotification => {
  if (isSilenced) return { ...wanted, ...never, waitsFor: 'silence' };
  // A request by a person is about this incident, whatever its cause. A resolution follows an earlier notification.
  const isAsked = wanted.address !== undefined && wanted.address.reason !== 'step';
  if (heldUntil > now && !isAsked && wanted.what !== 'resolved')
    return { ...wanted, readyAt: heldUntil, dueAt: heldUntil + groupMs, waitsFor: 'cause' };
  const isForOnCall = !address && ['opened', 'raised', 'reminder'].includes(wanted.what);
  if (isForOnCall && !isOnCall) return { ...wanted, ...never, waitsFor: 'offDuty' };
  const { happenedAt } = wanted;
  // The event's age is unknown. Sending early is better than sending late by the amount that the clock was set back.
  const isSetBack = (wanted.since ?? happenedAt) > now + clockSlackMs;
  const from = isSetBack ? now - groupMs : happenedAt;
  if (hours && !hoursExcept.has(level)) {
    // A notification that became ready within the hours is sent even if they end while incidents are being collected.
    const at = Math.max(from, now - groupMs);
    const readyAt = hours.isWithin(at) ? from : hours.nextWithin(at);
    if (readyAt > from) return { ...wanted, readyAt, dueAt: readyAt + groupMs, waitsFor: 'hours' };
  }
  const waitsFor = from <= now ? 'grouping' : wanted.waitsFor;
  return { ...wanted, readyAt: from, dueAt: from + groupMs, waitsFor };
};

export const isPlanned = (plan: NotificationPlan): plan is PlannedNotification =>
  plan !== undefined && plan !== 'forget';

/** True if a message can include the notification now. */
export const isReady = (plan: NotificationPlan, now: number): plan is PlannedNotification =>
  isPlanned(plan) && plan.readyAt <= now;
