import type { Static } from 'typebox';
import type { Scope } from '../auth/rights.ts';
import type { Role } from '../auth/token.ts';
import type { StoredRecord } from '../storage/journal/line.ts';
import type { AlertDelivery, AlertSource } from './alert-source.ts';
import type { AvailabilitySource } from './availability.ts';
import type { SharedIncident } from './incident.ts';
import type { IncidentEscalation, IncidentNotification } from './incident-responses.ts';
import type { EscalationStep, IncidentSource } from './incident-source.ts';
import type { History } from './machine.ts';
import type { SettingStore } from './setting-store.ts';
import type { SilenceStore } from './silence-source.ts';

/**
 * Shares of usage that count as a problem: limits for the default watches and, if there is no watch, for the status.
 */
export const hostLimits = { cpu: 0.95, memory: 0.95, disk: 0.9, fullDisk: 0.97 };

/** Watches, as offered by the feature `watches` for the status. */
export interface WatchSource {
  /** True if a watch on this or another instance checks the value, so that the status does not have to. */
  covers(what: 'cpu' | 'memory' | { mountPath: string }): boolean;
  /** Returns the watches that a host checks for this hub. */
  listFor(host: { name: string; tags: readonly string[] }): PushedWatches;
  /** Id of the list of watches received from this server's hub. */
  readonly receivedId: string;
  /** Replaces the hub's watches. Resolves once the new list is on disk. */
  receive(watches: PushedWatches): Promise<void>;
  /** Returns the last results of the watches that vote. */
  listChecks(): HostCheck[];
}

/** Watch that a host checks for its hub. With `isVote`, the host reports its results instead of raising alerts. */
export interface PushedWatch {
  watch: object;
  isVote: boolean;
}

/** Watches for a host. The id changes whenever the list does. */
export interface PushedWatches {
  id: string;
  list: PushedWatch[];
}

/** Last result of a watch for one thing, at a host. */
export interface HostCheck {
  watch: string;
  thing: string;
  state: 'good' | 'bad' | 'unknown';
  text: string;
}

/** Result from a host as known to the hub, with the report time in Unix milliseconds. */
export interface PlaceCheck extends HostCheck {
  host: string;
  at: number;
}

/** Hosts that report to this server, for features that count their votes. */
export interface HostSource {
  /** Returns a host's tags; undefined for an unknown host. */
  findTags(name: string): readonly string[] | undefined;
  /** Lists the values of `hostname` in alerts about a host, in lower case; none for an unknown host. */
  listNames(name: string): string[];
  /** Returns the last results of a watch at all hosts. */
  listChecks(watch: string): PlaceCheck[];
  /**
   * Runs a command line on a host. Rejects with an HttpError if the host is unknown or allows no commands, and with the
   * signal's reason.
   */
  runCommand(
    host: string,
    command: { line: string; by: string | null; requestId: string },
    signal: AbortSignal,
  ): Promise<RemoteResult>;
}

/** Output of a command on another machine. */
export interface RemoteOutput {
  rows: Record<string, unknown>[];
  truncated: boolean;
}

/** Output, or the reason for the failure in words. */
export type RemoteResult = RemoteOutput | { error: string };

/** Runs this machine's commands for the hub that it reports to. */
export interface CommandSource {
  /** Checks, runs and audits a command line. Never rejects. */
  execute(line: string, caller: { by: string | null; requestId: string; hub: string }): Promise<RemoteResult>;
}

/** Columns of the history. Disk columns are in bytes. */
export type HistoryColumn =
  | 'cpu'
  | 'memoryUsed'
  | 'memoryTotal'
  | 'swapUsed'
  | 'load'
  | 'networkReceived'
  | 'networkSent'
  | { mountPath: string; of: 'used' | 'total' };

/** Usage over time, as offered by the feature `history`. */
export interface HistorySource {
  /** Seconds between two values. */
  step: number;
  /** Returns the last `count` values, oldest first; NaN stands for unknown. */
  list(column: HistoryColumn, count: number): number[];
  /** Returns the last 10 minutes in steps of 5 seconds; null without values. */
  readRecent(): Static<typeof History> | null;
}

/** User of this server. */
export interface KnownUser {
  name: string;
  role: Role;
  /** True if the config file defines the user. */
  isConfigured: boolean;
}

/** Access, as offered by the feature `accounts` for features with streaming responses. */
interface AccessSource {
  /** Calls the listener when users or keys have changed or tokens have been revoked. */
  onChanged(listener: () => void): void;
  /** Returns all users by name; empty while a database with users has not been read. */
  listUsers(): readonly KnownUser[];
  /** Finds a user; undefined for an unknown name. */
  findUser(name: string): KnownUser | undefined;
  /** Finds a key by name, and tells if it is in the config file; undefined for an unknown name. */
  findKey(name: string): { scopes: readonly Scope[]; isConfigured: boolean } | undefined;
  /** Creates a key. Resolves to its text once the key is accepted. Rejects with an HttpError if the name is taken. */
  createKey(name: string, scopes: readonly Scope[], by: string): Promise<string>;
  /** Deletes a key created at run time. */
  deleteKey(name: string, by: string): Promise<void>;
  /**
   * Calls `remove` when a user is deleted, and before a user is created, because a new user must not get a former
   * user's data.
   */
  onRemoval(remove: (name: string, by: string) => Promise<void>): void;
}

/** Tasks, as offered by the feature `tasks`. */
export interface TaskSource {
  /** Creates a task and resolves to its id. A repeated `key` within 24 hours resolves to the existing task. */
  create(
    fields: { Title: string; Description: string; Priority: 'Low' | 'Medium' | 'High' | 'Critical' },
    key: string,
  ): Promise<number>;
}

/** Mail to a person outside. The address has no display name. */
export interface OutsideMail {
  /** Identical in all attempts. */
  id: string;
  to: string;
  subject: string;
  text: string;
  headers: Record<string, string>;
}

/** Notifications, as offered by the feature `notifications`. */
export interface NotificationSource {
  /** Returns the milliseconds after which a repeated alert is stored again; undefined if reminders are disabled. */
  repeatAfterMs(): number | undefined;
  /** Returns an alert's delivery status for each destination. */
  deliveriesOf(record: StoredRecord): readonly AlertDelivery[];
  /** Returns an incident's last and next notification for each destination. */
  describe(incident: SharedIncident): readonly IncidentNotification[];
  /** Returns the names of all users; undefined while they are unknown. */
  listPeople(): readonly string[] | undefined;
  /** Sends mails through the server of the first destination of type `email`. */
  mailer: {
    /** False if there is no such destination, or on a quiet server. */
    readonly isUsable: boolean;
    /** Sends a mail once. After `failed`, another attempt may succeed. */
    send(mail: OutsideMail): Promise<'delivered' | 'failed' | 'rejected'>;
  };
  /** Returns an incident's place in its escalation policy; null without a policy. */
  describeEscalation(incident: SharedIncident): IncidentEscalation | null;
  /** Returns the next escalation step of an incident as an action; undefined after the last step. */
  nextStep(incident: SharedIncident): EscalationStep | undefined;
}

/** Sources offered by the active features, by feature name. */
export interface Offers {
  accounts?: AccessSource;
  alerts?: AlertSource;
  settings?: SettingStore;
  silences?: SilenceStore;
  incidents?: IncidentSource;
  notifications?: NotificationSource;
  tasks?: TaskSource;
  history?: HistorySource;
  watches?: WatchSource;
  hosts?: HostSource;
  commands?: CommandSource;
  availability?: AvailabilitySource;
}
