import Type, { type Static } from 'typebox';
import type { StoredRecord } from '../storage/journal/line.ts';
import type { Awaitable } from '../storage/list.ts';
import { type NotificationKind, notificationKinds, type SharedIncident } from './incident.ts';
import { defineShape, nullable, Time } from './route.ts';
import { type Severity, severities } from './severity.ts';

/** What became of a notification. */
export interface IncidentDelivery {
  destination: string;
  what: NotificationKind;
  /** The incident's when it was sent, as is the opening. */
  level: Severity;
  opening: number;
  isDelivered: boolean;
  /** `delivered`, or why it was given up. */
  result: string;
  /** It went to a destination that is notified only if nobody takes the incident. */
  isEscalation?: boolean;
}

/** What other features do to an incident. */
export type SharedAction = { id: string; by: string } & (
  | { type: 'acknowledge'; comment?: string | undefined; until?: number | undefined }
  | { type: 'resolve'; comment?: string | undefined }
  | ({ type: 'notify' } & IncidentDelivery)
  /** The destination is about to be notified of it for the first time. */
  | { type: 'attempt'; destination: string }
  /** These destinations need not hear of it any more. */
  | { type: 'forget'; destinations: readonly string[] }
  /** A silence keeps it quiet. */
  | { type: 'silence' }
  /** What its machine was doing is stored since then, in Unix milliseconds, or is not kept any more. */
  | { type: 'snapshot'; takenAt: number; isKept: boolean }
);

/** A notification that was sent, or given up. */
export interface SentNotification {
  incident: { id: string; number: number; title: string };
  at: number;
  /** Of an event of the timeline: `escalated` where nobody had taken the incident. */
  event: 'notified' | 'escalated' | 'reminder';
  destination: string;
  what: NotificationKind;
  level: Severity;
  result: string;
  /** Its place in the order of changes. */
  change: number;
}

export interface SentFilter {
  destination?: string | undefined;
  /** An incident's id. */
  incident?: string | undefined;
}

/** The next notification of an incident to a destination. */
export const NextNotification = defineShape('NextNotification', {
  what: Type.Enum(notificationKinds, { type: 'string', examples: ['reminder'] }),
  dueAt: nullable(Time, 'When it is sent at the earliest; `null` where no time is known.'),
  waitsFor: Type.Enum(['grouping', 'after', 'repeat', 'hours', 'offDuty', 'silence', 'receiver'], {
    type: 'string',
    description:
      'Why it is not sent yet: it waits for others to be in the same message, for `after`, `repeat` or `hours` of the destination, for its turn to be on call, for the end of a silence, or for the receiver.',
  }),
  attempts: Type.Integer({ description: 'Failed attempts.', examples: [0] }),
  error: nullable(Type.String({ examples: ['the connection was refused'] }), 'Why the last attempt failed.'),
});

const LastNotification = defineShape('LastNotification', {
  what: Type.Enum(notificationKinds, { type: 'string', examples: ['opened'] }),
  level: Type.Enum(severities, { type: 'string', examples: ['ERROR'] }),
  at: Time,
});

/** The last and next notification of an incident to a destination. */
export const IncidentNotification = defineShape('IncidentNotification', {
  destination: Type.String({ description: 'Name of the destination.', examples: ['pager'] }),
  last: nullable(LastNotification, 'The last notification; `null` if there was none, or after that of the end.'),
  next: nullable(NextNotification, 'The next notification, unless something happens before; `null` if none is due.'),
});

export type IncidentNotification = Static<typeof IncidentNotification>;

/** Incidents, for features that show them or tell people of them. */
export interface IncidentSource {
  /** The incidents of alerts, in their order; undefined for those that are in none, or not yet. */
  nameIncidents(alerts: readonly StoredRecord[]): Awaitable<readonly ({ id: string; number: number } | undefined)[]>;
  /** Those that are not resolved, and those with destinations that have not heard that they are; some at a time. */
  listUnsettled(): AsyncIterable<readonly SharedIncident[]>;
  /** By its id or its number. */
  find(id: string | number): Awaitable<SharedIncident | undefined>;
  /** By the id or number in a path. Rejects with an HttpError if there is none. */
  require(id: string): Promise<SharedIncident>;
  /** Resolves, once it is stored, to the incident as it is then; to undefined if there is none. Rejects with an HttpError. */
  act(action: SharedAction): Promise<SharedIncident | undefined>;
  /** What was sent, newest first, before the place of another one. */
  listSent(filter: SentFilter, limit: number, before?: number): Awaitable<SentNotification[]>;
  /** Calls the listener with incidents that are new or have changed, also where they only have more alerts. */
  onChanged(listener: (incidents: readonly SharedIncident[]) => void): void;
  /** Calls the listener when a database has lost events: incidents may be as they were before, or gone. */
  onLost(listener: () => void): void;
  /** Resolves when all alerts are counted that are stored now. */
  catchUp(): Promise<void>;
}
