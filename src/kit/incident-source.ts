import Type, { type Static } from 'typebox';
import type { StoredRecord } from '../storage/journal/line.ts';
import type { Awaitable } from '../storage/list.ts';
import type { DependencySource, Dependent, ThingRef } from './dependencies.ts';
import {
  type AddressReason,
  type EscalationPlace,
  type IncidentCause,
  type NotificationKind,
  notificationKinds,
  type SharedIncident,
} from './incident.ts';
import { defineShape, nullable, Time } from './route.ts';
import { type Severity, severities } from './severity.ts';

/** Outcome of notifying a destination. */
export interface IncidentDelivery {
  destination: string;
  what: NotificationKind;
  /** Level of the incident when the notification was sent. */
  level: Severity;
  /** The incident's `openings` when the notification was sent. */
  opening: number;
  isDelivered: boolean;
  /** `delivered`, or the reason why the notification was given up. */
  result: string;
  /** True for a destination that is notified only if nobody acknowledges the incident. */
  isEscalation?: boolean;
  /** The address event's `times` when the notification was sent. */
  times?: number | undefined;
}

/** Step of an escalation policy that begins now. */
export interface EscalationStep {
  /** Opening of the incident to which the step belongs. */
  opening: number;
  /** Place before the step. If the incident is at another place, the step has no effect. Null before the first step. */
  after: EscalationPlace | null;
  place: EscalationPlace;
  /** Targets of the step, `person:NAME` or `destination:NAME`. */
  targets: readonly string[];
}

/** Reason why an incident notifies nobody. Times are Unix milliseconds. */
export interface IncidentHold {
  /** Undefined while a possible cause has not been checked yet. */
  cause: IncidentCause | undefined;
  /** Infinity while the cause is open. */
  until: number;
  /** Time at which the hold may end earlier. */
  lookAt: number;
}

/** Another feature's action on an incident. */
export type SharedAction = { id: string; by: string } & (
  | { type: 'acknowledge'; comment?: string | undefined; until?: number | undefined }
  | { type: 'resolve'; comment?: string | undefined }
  | ({ type: 'notify' } & IncidentDelivery)
  /** The first notification to the destination is being sent. */
  | { type: 'attempt'; destination: string }
  /** The destinations will not be notified of the resolution. */
  | { type: 'forget'; destinations: readonly string[] }
  | ({ type: 'escalate' } & EscalationStep)
  /** The targets, `person:NAME` or `destination:NAME`, are notified of the incident even if it is acknowledged. */
  | {
      type: 'address';
      targets: readonly string[];
      reason: Exclude<AddressReason, 'step'>;
      comment?: string | undefined;
    }
  /** A silence suppresses the notifications. */
  | { type: 'silence' }
  /** The notifications wait for the end of another incident. */
  | { type: 'inhibit'; cause: IncidentCause }
  /** A picture of the machine was taken at `takenAt` (Unix milliseconds), or has been deleted. */
  | { type: 'snapshot'; takenAt: number; isKept: boolean }
);

/** Form of sent and given-up notifications in responses. */
export const ShownNotification = defineShape('SentNotification', {
  at: Type.String({ ...Time, description: 'Time of delivery or of giving up.' }),
  destination: Type.String({ examples: ['pager'] }),
  incident: defineShape('NotifiedIncident', {
    id: Type.String({ format: 'uuid', examples: ['019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c55'] }),
    number: Type.Integer({ examples: [412] }),
    title: Type.String({ examples: ['disk is full'] }),
  }),
  event: Type.Enum(['notified', 'escalated', 'reminder'], {
    type: 'string',
    description: '`escalated`: sent because nobody had acknowledged the incident after `after` minutes.',
  }),
  what: Type.Enum(notificationKinds, { type: 'string', examples: ['opened'] }),
  level: Type.Enum(severities, { type: 'string', examples: ['ERROR'] }),
  result: Type.String({ description: '`delivered`, or the reason for giving up.', examples: ['delivered'] }),
});

/** Notification that was sent or given up. */
export interface SentNotification extends Omit<Static<typeof ShownNotification>, 'at'> {
  /** Unix milliseconds. */
  at: number;
  /** The incident's `change` after the notification. */
  change: number;
}

export interface SentFilter {
  destination?: string | undefined;
  /** Incident id. */
  incident?: string | undefined;
}

/** An incident's next notification to a destination. */
export const NextNotification = defineShape('NextNotification', {
  what: Type.Enum(notificationKinds, { type: 'string', examples: ['reminder'] }),
  dueAt: nullable(Time, 'Earliest time of the notification; `null` if unknown.'),
  waitsFor: Type.Enum(['grouping', 'after', 'repeat', 'hours', 'offDuty', 'silence', 'cause', 'receiver'], {
    type: 'string',
    description:
      'Reason for the delay: collecting more incidents for one message; `after`, `repeat` or `hours` of the destination; its next shift; a silence; the `cause`, or the check of a possible cause; or a receiver that does not accept messages.',
  }),
  attempts: Type.Integer({ description: 'Number of failed attempts.', examples: [0] }),
  error: nullable(Type.String({ examples: ['the connection was refused'] }), 'Reason why the last attempt failed.'),
});

const LastNotification = defineShape('LastNotification', {
  what: Type.Enum(notificationKinds, { type: 'string', examples: ['opened'] }),
  level: Type.Enum(severities, { type: 'string', examples: ['ERROR'] }),
  at: Time,
});

/** An incident's last and next notification to a destination. */
export const IncidentNotification = defineShape('IncidentNotification', {
  destination: Type.String({ description: 'Name of the destination.', examples: ['pager'] }),
  last: nullable(
    LastNotification,
    'Last notification; `null` if there was none, or if the resolution was already sent.',
  ),
  next: nullable(
    NextNotification,
    'Next notification if the incident does not change first; `null` if none is planned.',
  ),
});

export type IncidentNotification = Static<typeof IncidentNotification>;

/** Place of an incident in its escalation policy, and the next step. */
export const IncidentEscalation = defineShape('IncidentEscalation', {
  policy: Type.String({ description: 'Name of the escalation policy.', examples: ['ops'] }),
  step: Type.Integer({ description: 'Number of the latest step; 0 before the first step.', examples: [1] }),
  steps: Type.Integer({ description: 'Number of steps of the policy.', examples: [2] }),
  round: Type.Integer({ description: 'Number of the round, starting at 1.', examples: [1] }),
  rounds: Type.Integer({ description: 'Number of rounds.', examples: [4] }),
  since: nullable(Time, 'Time when the step began.'),
  next: nullable(
    defineShape('NextEscalationStep', {
      policy: Type.String({ examples: ['ops'] }),
      step: Type.Integer({ examples: [2] }),
      round: Type.Integer({ examples: [1] }),
      dueAt: nullable(Time, 'Time of the step; `null` while a silence or the cause suspends the step.'),
      targets: Type.Array(Type.String({ examples: ['person:ben'] }), {
        description: 'People and destinations, `person:NAME` or `destination:NAME`, who are on call then.',
      }),
    }),
    'Next step if the incident does not change first; `null` if no step follows.',
  ),
});

export type IncidentEscalation = Static<typeof IncidentEscalation>;

/** Dependencies between things, checked before they are stored. Methods throw an HttpError. */
interface Dependencies {
  add(source: DependencySource): void;
  assertUsable(ref: ThingRef, dependent: Dependent): void;
  /** Refuses to delete a thing on which others depend. */
  assertUnneeded(ref: ThingRef): void;
}

/** Incidents, for features that show them or notify people. */
export interface IncidentSource {
  /** Returns each alert's incident; undefined if the alert has no incident or has not been folded yet. */
  nameIncidents(alerts: readonly StoredRecord[]): Awaitable<readonly ({ id: string; number: number } | undefined)[]>;
  /** Lists active incidents, and resolved incidents whose resolution has not reached every destination. */
  listUnsettled(): Promise<readonly SharedIncident[]>;
  /** Finds an incident by id or number. */
  find(id: string | number): Awaitable<SharedIncident | undefined>;
  /** Finds an incident by the id or number in a path. Rejects with an HttpError if the incident does not exist. */
  require(id: string): Promise<SharedIncident>;
  /**
   * Applies an action. Once the action is stored, resolves to the changed incident, or to undefined for an unknown
   * incident. Rejects with an HttpError if the incident's state forbids the action.
   */
  act(action: SharedAction): Promise<SharedIncident | undefined>;
  /** Lists notifications, newest first, before the change `before`. */
  listSent(filter: SentFilter, limit: number, before?: number): Awaitable<SentNotification[]>;
  /** Calls the listener with new and changed incidents, including incidents of repeated alerts. */
  onChanged(listener: (incidents: readonly SharedIncident[]) => void): void;
  /** Calls the listener when a database has lost events, so that incidents may be outdated or missing. */
  onLost(listener: () => void): void;
  /** Resolves once all stored alerts have been folded. */
  catchUp(): Promise<void>;
  /** Returns what holds an incident's notifications; undefined if nothing does. */
  findHold(incident: SharedIncident): IncidentHold | undefined;
  /** True if an incident may hold others, or may have held others until it was resolved. */
  isCause(incident: SharedIncident): boolean;
  /** Calls the listener when the dependencies of many incidents may have changed. */
  onHoldsChanged(listener: () => void): void;
  /** Dependencies of watches, heartbeats and hosts. */
  dependencies: Dependencies;
}
