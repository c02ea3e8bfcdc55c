import type { SentFilter, SentNotification } from '../../kit/offers.ts';
import type { Severity } from '../../kit/severity.ts';
import type { StoredRecord } from '../../storage/journal/line.ts';
import type { Awaitable } from '../../storage/list.ts';
import type { RecordLog } from '../../storage/record-log.ts';
import type { ActionOn, Fold, Rules } from './fold.ts';
import type { StoredEvent, StoredIncident } from './incident.ts';
import type { IncidentState } from './schema.ts';

/** What is read of the log of alerts. */
export type ReadAlerts = Pick<RecordLog, 'readAfter' | 'onStored' | 'holdFrom' | 'search' | 'find' | 'state'>;

/** Which incidents to list; texts are compared in lower case. */
export interface IncidentFilter {
  states: readonly IncidentState[];
  level?: Severity | undefined;
  /** Patterns with `*`. */
  source?: string | undefined;
  hostname?: string | undefined;
  /** A part of the title. */
  q?: string | undefined;
  /** The number of the only one. */
  number?: number | undefined;
  /** Unix milliseconds: the last alert was not before `since`, and the first one was before `until`. */
  since?: number | undefined;
  until?: number | undefined;
}

/** Incidents, the last changed first; `next` is the `before` of the next page. */
export interface IncidentList {
  total: number;
  incidents: StoredIncident[];
  next: number | undefined;
}

/** The short name of the incident that an alert belongs to. */
export type IncidentName = Pick<StoredIncident, 'id' | 'number'>;

/** How many incidents there are in a state and of a level. */
export interface IncidentCount {
  state: IncidentState;
  level: Severity;
  count: number;
}

/**
 * Incidents, in files of this machine or in a database that instances share. Methods throw StoreUnavailable, also in their
 * promises, while they cannot be used.
 */
export interface IncidentStore {
  list(filter: IncidentFilter, limit: number, before?: number): Awaitable<IncidentList>;
  /** By its id or its number. */
  find(id: string | number): Awaitable<StoredIncident | undefined>;
  /** Its last events, oldest first. */
  listEvents(id: string): Awaitable<readonly StoredEvent[]>;
  /** Those that are not resolved, and those with destinations that have not heard that they are; some at a time. */
  listUnsettled(): AsyncIterable<readonly StoredIncident[]>;
  /** What destinations were told, newest first, before the place of another one. */
  listSent(filter: SentFilter, limit: number, before?: number): Awaitable<SentNotification[]>;
  /** The incidents of alerts, in their order; undefined for those that are in none, or were not folded yet. */
  nameIncidents(alerts: readonly StoredRecord[]): Awaitable<(IncidentName | undefined)[]>;
  /**
   * Resolves, once the action is stored, to the incident as it is then; to undefined if there is none. Rejects with an
   * HttpError if its state forbids that, and with a StoreConflict unless its version is expected.
   */
  act(action: ActionOn, expected?: readonly number[]): Promise<StoredIncident | undefined>;
  count(): Awaitable<IncidentCount[]>;
  /** The same as last known, at once: for those that must not wait. */
  readonly lastCounts: readonly IncidentCount[];
  /** Why alerts are not folded, or actions not stored, at the moment; a database says itself that it cannot be used. */
  readonly failure: Error | undefined;
  /** Whether alerts are folded and actions stored at the moment. */
  isReady(): Awaitable<boolean>;
  /** Calls the listener with incidents that are new or have changed, also where they only have more alerts. */
  onChanged(listener: (incidents: readonly StoredIncident[]) => void): void;
  /** Resolves when all alerts are folded that are stored now. */
  catchUp(): Promise<void>;
  /** Changes the settings that decide the state, from now on. */
  changeRules(rules: Rules): void;
  reopen(): Awaitable<void>;
  close(): Promise<void>;
}

/** Gets what is measured of a step, by the one who has made it. */
export type Observe = (measured: Fold['measured']) => void;
