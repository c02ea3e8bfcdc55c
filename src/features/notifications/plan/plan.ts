import type { IncidentNotice, NotificationKind, SharedIncident } from '../../../kit/incident-source.ts';
import { rankOf, type Severity } from '../../../kit/severity.ts';

/** Times of the week; times are Unix milliseconds. */
export interface UsableHours {
  isWithin(at: number): boolean;
  /** The first time at or after `at` that is one of them. */
  nextWithin(at: number): number;
}

/** When a destination wants to be notified of an incident, by its settings. */
export interface IncidentRules {
  on: ReadonlySet<NotificationKind>;
  /** For how long an incident must have been open, and nobody has taken it. */
  afterMs: number;
  /** Between two reminders; undefined without any. */
  repeatMs: number | undefined;
  /** For how long others are collected for the same message; 0 sends each alone. */
  groupMs: number;
  /** When it may be used; undefined for always. */
  hours: UsableHours | undefined;
  /** The levels of incidents for which it may be used outside its hours. */
  hoursExcept: ReadonlySet<Severity>;
  /** Whether it wants to be notified of such incidents at all. */
  accepts(incident: SharedIncident): boolean;
}

/** What decides beside the incident and the settings. */
export interface Circumstances {
  /** Unix milliseconds. */
  now: number;
  isOnDuty: boolean;
  isSilenced: boolean;
}

type WaitReason = 'grouping' | 'after' | 'repeat' | 'hours' | 'offDuty' | 'silence';

/** The next notification of an incident to a destination, unless something happens before. */
export interface PlannedNotice {
  what: NotificationKind;
  /** Since when there is something to say, in Unix milliseconds; it may be in the future. */
  happenedAt: number;
  /** From when on it may be part of a message, and when it is sent at the latest; Infinity where no time is known. */
  readyAt: number;
  dueAt: number;
  /** It goes out because nobody has taken the incident. */
  isEscalation: boolean;
  /** Why it is not sent before. */
  waitsFor: WaitReason;
}

/** `forget`: the destination need not hear of it any more. */
export type NoticePlan = PlannedNotice | 'forget' | undefined;

/** Times that are this far in the future were noted before the clock was set back. */
const clockSlackMs = 60_000;

type Wanted = Pick<PlannedNotice, 'what' | 'happenedAt' | 'isEscalation'> & {
  /** Where it waits for minutes to pass: when these began. */
  since?: number;
  waitsFor: 'grouping' | 'after' | 'repeat';
};

/**
 * The next notification of an incident to a destination whose last one was `notice`. It is a function of what is stored and
 * of the time, so nothing of it has to be kept: what comes in between just makes nothing due.
 */
export const planNotice = (
  incident: SharedIncident,
  notice: IncidentNotice | undefined,
  rules: IncidentRules,
  circumstances: Circumstances,
): NoticePlan => {
  if (incident.isOld) return notice && 'forget';
  const wanted = incident.state === 'resolved' ? planEnd(incident, notice, rules) : planNews(incident, notice, rules);
  return wanted === undefined || wanted === 'forget' ? wanted : schedule(wanted, incident, rules, circumstances);
};

/** Those that were notified of the incident are notified of its end, and nobody else. */
const planEnd = (
  { resolved, stateSince }: SharedIncident,
  notice: IncidentNotice | undefined,
  { on }: IncidentRules,
): Wanted | 'forget' | undefined => {
  if (!notice) return undefined;
  const mayKnow = notice.isTold || notice.isPending;
  if (!mayKnow || !on.has('resolved')) return 'forget';
  return { what: 'resolved', happenedAt: resolved?.at ?? stateSince, isEscalation: false, waitsFor: 'grouping' };
};

const planNews = (
  incident: SharedIncident,
  last: IncidentNotice | undefined,
  rules: IncidentRules,
): Wanted | undefined => {
  const { state, openings } = incident;
  const notice = last?.isPending ? undefined : last;
  if (!rules.accepts(incident)) return undefined;
  const isCurrent = notice?.opening === openings;
  if (state === 'acknowledged') return planAcknowledgement(incident, notice, isCurrent, rules);
  return notice && isCurrent ? planMore(incident, notice, rules) : planOpening(incident, notice, rules);
};

/** Those that would have been told that it is open, but were not, need not know who has it. */
const planAcknowledgement = (
  { acknowledged, stateSince }: SharedIncident,
  notice: IncidentNotice | undefined,
  isCurrent: boolean,
  { on }: IncidentRules,
): Wanted | undefined => {
  const isKnown = isCurrent && notice?.what === 'acknowledged';
  const isUntold = !notice && on.has('opened');
  if (!on.has('acknowledged') || isKnown || isUntold) return undefined;
  const happenedAt = acknowledged?.at ?? stateSince;
  return { what: 'acknowledged', happenedAt, isEscalation: false, waitsFor: 'grouping' };
};

/** Of an open incident, to one that knows that it is open. */
const planMore = (
  { level, raisedAt, stateSince }: SharedIncident,
  notice: IncidentNotice,
  { on, repeatMs }: IncidentRules,
): Wanted | undefined => {
  if (on.has('raised') && rankOf(level) < rankOf(notice.level)) {
    return { what: 'raised', happenedAt: raisedAt ?? stateSince, isEscalation: false, waitsFor: 'grouping' };
  }
  if (repeatMs === undefined) return undefined;
  const since = notice.at;
  return { what: 'reminder', since, happenedAt: since + repeatMs, isEscalation: false, waitsFor: 'repeat' };
};

/** Of an incident that is open, for the first time or again. */
const planOpening = (
  { level, raisedAt, stateSince }: SharedIncident,
  notice: IncidentNotice | undefined,
  { on, afterMs, repeatMs }: IncidentRules,
): Wanted | undefined => {
  const isRaised = notice ? rankOf(level) < rankOf(notice.level) : raisedAt !== null && !on.has('opened');
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

/** When it may be told. */
const schedule = (
  wanted: Wanted,
  { level }: SharedIncident,
  { hours, hoursExcept, groupMs }: IncidentRules,
  { now, isOnDuty, isSilenced }: Circumstances,
): PlannedNotice => {
  if (isSilenced) return { ...wanted, ...never, waitsFor: 'silence' };
  const isForDuty = wanted.what === 'opened' || wanted.what === 'raised' || wanted.what === 'reminder';
  if (isForDuty && !isOnDuty) return { ...wanted, ...never, waitsFor: 'offDuty' };
  const { happenedAt } = wanted;
  // Nobody knows how long ago that was: early is better than late by as much as the clock was set back.
  const isSetBack = (wanted.since ?? happenedAt) > now + clockSlackMs;
  const from = isSetBack ? now - groupMs : happenedAt;
  if (hours && !hoursExcept.has(level)) {
    // What became ready within the hours is sent, although they may end while others are collected.
    const at = Math.max(from, now - groupMs);
    const readyAt = hours.isWithin(at) ? from : hours.nextWithin(at);
    if (readyAt > from) return { ...wanted, readyAt, dueAt: readyAt + groupMs, waitsFor: 'hours' };
  }
  const waitsFor = from <= now ? 'grouping' : wanted.waitsFor;
  return { ...wanted, readyAt: from, dueAt: from + groupMs, waitsFor };
};
