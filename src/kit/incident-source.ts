import type { Static } from 'typebox';
import type { StoredRecord } from '../storage/journal/line.ts';
import type { Awaitable } from '../storage/list.ts';
import type { DependencySource, Dependent, ThingRef } from './dependencies.ts';
import type { AddressReason, EscalationPlace, IncidentCause, NotificationKind, SharedIncident } from './incident.ts';
import type { ShownNotification } from './incident-responses.ts';
import type { Severity } from './severity.ts';

/** Outcome of notifying a destination. */
export interface IncidentDelivery {
  destination: string;
  what: NotificationKind;
  /** Level of the incident when the notification was sent. */
  level: Severity;
  /** Value that `openings` had in the incident when the notification was sent. */
  opening: number;
  isDelivered: boolean;
  /** `delivered`, or the reason why the notification was given up. */
  result: string;
  /** True for a destination that is notified only if nobody acknowledges the incident. */
  isEscalation?: boolean;
  /** Value that `times` had in the address event when the notification was sent. */
  times?: number | undefined;
}

/** Step of an escalation policy that begins now. */
export interface EscalationStep {
  /** Opening of the incident that the step belongs to. */
  opening: number;
  /**
   * Position before the step. If the incident is at another position, the step has no effect. Null before the first
   * step.
   */
  after: EscalationPlace | null;
  place: EscalationPlace;
  /** Targets of the step, `person:NAME` or `destination:NAME`. */
  targets: readonly string[];
}

/** Reason why an incident does not notify anybody. Times are Unix milliseconds. */
export interface IncidentHold {
  /** Cause. Undefined while a possible cause has not been checked yet. */
  cause: IncidentCause | undefined;
  /** End of the hold. Infinity while the cause is open. */
  until: number;
  /** Time at which the hold may end earlier. */
  lookAt: number;
}

/** Action of another feature on an incident. */
export type SharedAction = { id: string; by: string } & (
  | { type: 'acknowledge'; comment?: string | undefined; until?: number | undefined }
  | { type: 'resolve'; comment?: string | undefined }
  | ({ type: 'notify' } & IncidentDelivery)
  /** The first notification to the destination is being sent. */
  | { type: 'attempt'; destination: string }
  /** The destinations will not be notified of the resolution. */
  | { type: 'forget'; destinations: readonly string[] }
  | ({ type: 'escalate' } & EscalationStep)
  /**
   * The targets are notified of the incident even if it is acknowledged. A target is `person:NAME` or
   * `destination:NAME`.
   */
  | {
      type: 'address';
      targets: readonly string[];
      reason: Exclude<AddressReason, 'step'>;
      comment?: string | undefined;
    }
  /** A silence suppresses the notifications. */
  | { type: 'silence' }
  /** The notifications wait until another incident ends. */
  | { type: 'inhibit'; cause: IncidentCause }
  /** A picture of the machine was taken at `takenAt` (Unix milliseconds), or was deleted. */
  | { type: 'snapshot'; takenAt: number; isKept: boolean }
);

/** Notification that was sent or given up. */
export interface SentNotification extends Omit<Static<typeof ShownNotification>, 'at'> {
  /** Unix milliseconds. */
  at: number;
  /** Value that `change` had in the incident after the notification. */
  change: number;
}

export interface SentFilter {
  destination?: string | undefined;
  /** Incident id. */
  incident?: string | undefined;
}

/** Checks dependencies before they are stored. Methods throw an HttpError if a dependency is not allowed. */
interface Dependencies {
  add(source: DependencySource): void;
  assertUsable(ref: ThingRef, dependent: Dependent): void;
  /** Throws an HttpError if a thing must not be deleted because others depend on it. */
  assertUnneeded(ref: ThingRef): void;
}

/** Incidents, for features that show them or notify people. */
export interface IncidentSource {
  /** Returns the incident of each alert. Undefined if the alert has no incident or has not been folded yet. */
  nameIncidents(alerts: readonly StoredRecord[]): Awaitable<readonly ({ id: string; number: number } | undefined)[]>;
  /** Lists active incidents, and resolved incidents whose resolution has not yet reached every destination. */
  listUnsettled(): Promise<readonly SharedIncident[]>;
  /** Finds an incident by id or number. */
  find(id: string | number): Awaitable<SharedIncident | undefined>;
  /** Finds an incident by the id or number in a path. Rejects with an HttpError if the incident does not exist. */
  require(id: string): Promise<SharedIncident>;
  /**
   * Applies an action. Once the action is stored, resolves to the changed incident, or to undefined for an unknown
   * incident. Rejects with an HttpError if the state of the incident forbids the action.
   */
  act(action: SharedAction): Promise<SharedIncident | undefined>;
  /** Lists notifications before the change `before`, newest first. */
  listSent(filter: SentFilter, limit: number, before?: number): Awaitable<SentNotification[]>;
  /** Calls the listener with new and changed incidents. Includes the incidents of repeated alerts. */
  onChanged(listener: (incidents: readonly SharedIncident[]) => void): void;
  /** Calls the listener when a database has lost events. Incidents may then be outdated or missing. */
  onLost(listener: () => void): void;
  /** Resolves once all stored alerts have been folded. */
  catchUp(): Promise<void>;
  /** Returns the reason why the notifications of an incident are held. Undefined if they are not held. */
  findHold(incident: SharedIncident): IncidentHold | undefined;
  /** True if an incident may hold others, or may have held others until it was resolved. */
  isCause(incident: SharedIncident): boolean;
  /** Calls the listener when the dependencies of many incidents may have changed. */
  onHoldsChanged(listener: () => void): void;
  /** Dependencies of watches, heartbeats and hosts. */
  dependencies: Dependencies;
}
