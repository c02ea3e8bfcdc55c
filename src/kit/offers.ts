import type { Static } from 'typebox';
import type { AccessKey } from '../auth/access.ts';
import type { Scope } from '../auth/rights.ts';
import type { FindGrant, Role } from '../auth/token.ts';
import type { StoredRecord } from '../storage/journal/line.ts';
import type { AlertDelivery, AlertSource } from './alert-source.ts';
import type { AvailabilitySource } from './availability.ts';
import type { HostHeartbeat } from './host-report/report-schema.ts';
import type { SharedIncident } from './incident.ts';
import type { IncidentEscalation, IncidentNotification } from './incident-responses.ts';
import type { EscalationStep, IncidentSource } from './incident-source.ts';
import type { History } from './machine.ts';
import type { SettingStore } from './setting-store.ts';
import type { SilenceStore } from './silence-source.ts';

/**
 * Shares of usage that count as a problem. They are the limits of the default watches or, without a watch, of the
 * status.
 */
export const hostLimits = { cpu: 0.95, memory: 0.95, disk: 0.9, fullDisk: 0.97 };

/** Watches, as offered by the feature `watches` for the status. */
export interface WatchSource {
  /** True if a watch on this or another instance checks the value, so that the status does not have to. */
  covers(what: 'cpu' | 'memory' | { mountPath: string }): boolean;
  /** Returns the watches that a host checks for this hub. */
  listFor(host: { name: string; tags: readonly string[] }): PushedWatches;
  /** True if the watches that a host checks for this hub contain a password or a private key. */
  hasSecretsFor(host: { name: string; tags: readonly string[] }): boolean;
  /** Id of the list of watches that this server received from its hub. */
  readonly receivedId: string;
  /** Replaces the watches from the hub. Resolves once the new list is on disk. */
  receive(watches: PushedWatches): Promise<void>;
  /** Returns the last results of the watches that take part in votes. */
  listChecks(): HostCheck[];
}

/** Watch that a host runs for its hub. With `isVote`, the host reports its results instead of raising alerts. */
export interface PushedWatch {
  watch: object;
  isVote: boolean;
}

/** Watches for a host. The id changes whenever the list changes. */
export interface PushedWatches {
  id: string;
  list: PushedWatch[];
}

/** Last result that a host has for one of the things of a watch. */
export interface HostCheck {
  watch: string;
  thing: string;
  state: 'good' | 'bad' | 'unknown';
  text: string;
}

/** Result from a host, as known to the hub, with the time of the report in Unix milliseconds. */
export interface PlaceCheck extends HostCheck {
  host: string;
  at: number;
}

/** Heartbeats of this server, as offered to the reports for a hub. */
export interface HeartbeatSource {
  /** Lists all heartbeats. */
  list(): HostHeartbeat[];
}

/** Hosts that report to this server, for features that count their votes. */
export interface HostSource {
  /** Returns the tags of a host. Undefined for an unknown host. */
  findTags(name: string): readonly string[] | undefined;
  /** Lists the values of `hostname` in alerts about a host, in lower case. Empty for an unknown host. */
  listNames(name: string): string[];
  /** Returns the last results of a watch at all hosts. */
  listChecks(watch: string): PlaceCheck[];
  /**
   * Runs a command line on a host. Rejects with an HttpError if the host is unknown or allows no commands, and with the
   * signal's reason after an abort.
   */
  runCommand(
    host: string,
    command: { line: string; by: string | null; requestId: string },
    signal: AbortSignal,
  ): Promise<RemoteResult>;
}

/** Output of a command on another machine. */
interface RemoteOutput {
  rows: Record<string, unknown>[];
  truncated: boolean;
}

/** Output, or the reason for the failure in words. */
export type RemoteResult = RemoteOutput | { error: string };

/** Runs commands on this machine for the hub that it reports to. */
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
  /** Returns the last `count` values, oldest first. NaN stands for unknown. */
  list(column: HistoryColumn, count: number): number[];
  /** Returns the last 10 minutes in steps of 5 seconds. Null without values. */
  readRecent(): Static<typeof History> | null;
}

/** User of this server. */
export interface KnownUser {
  name: string;
  role: Role;
  /** True if the config file defines the user. */
  isConfigured: boolean;
}

/** Access, as offered by the feature `accounts` to the server and other features. */
interface AccessSource {
  findGrant: FindGrant;
  /** Loads account changes made by other instances. Rejects if they cannot be loaded. */
  refresh(): Promise<void>;
  /** Calls the listener when users or keys have changed or tokens have been revoked. */
  onChanged(listener: () => void): void;
  /** Returns all users by name. Empty while a database with users has not been read. */
  listUsers(): readonly KnownUser[];
  /** Finds a user. Undefined for an unknown name. */
  findUser(name: string): KnownUser | undefined;
  /** Finds a key by name, and whether it is in the config file. Undefined for an unknown name. */
  findKey(name: string): { scopes: readonly Scope[]; isConfigured: boolean } | undefined;
  /** Returns the keys created at runtime, without keys that the config file overrides. */
  listRuntimeKeys(): readonly AccessKey[];
  /** Creates a key. Resolves to its text once the key is accepted. Rejects with an HttpError if the name is taken. */
  createKey(name: string, scopes: readonly Scope[], by: string): Promise<string>;
  /** Deletes a key that was created at runtime. */
  deleteKey(name: string, by: string): Promise<void>;
  /**
   * Calls `remove` when a user is deleted, and before a user is created so that the new user does not get a former
   * user's data.
   */
  onRemoval(remove: (name: string, by: string) => Promise<void>): void;
}

/** Tasks, as offered by the feature `tasks`. */
export interface TaskSource {
  /**
   * Creates a task and resolves to its id. If `key` is repeated within 24 hours, resolves to the id of the existing
   * task.
   */
  create(
    fields: { Title: string; Description: string; Priority: 'Low' | 'Medium' | 'High' | 'Critical' },
    key: string,
  ): Promise<number>;
}

/** Mail to a person outside. The address has no display name. */
export interface OutsideMail {
  /** Id of the mail. Identical in all attempts. */
  id: string;
  to: string;
  subject: string;
  text: string;
  headers: Record<string, string>;
}

/**
 * Outcome of a mail. `refused`: the server never accepts this mail. `deferred`: the server accepts this mail later, and
 * may accept others now. `failed`: the server can accept no mail at present.
 */
export type MailOutcome = 'delivered' | 'refused' | 'deferred' | 'failed';

/** Notifications, as offered by the feature `notifications`. */
export interface NotificationSource {
  /** Returns the milliseconds after which a repeated alert is stored again. Undefined if reminders are disabled. */
  repeatAfterMs(): number | undefined;
  /** Returns the delivery status of an alert for each destination. */
  deliveriesOf(record: StoredRecord): readonly AlertDelivery[];
  /** Returns the last and next notification of an incident for each destination. */
  describe(incident: SharedIncident): readonly IncidentNotification[];
  /** Returns the names of all users. Undefined while they are unknown. */
  listPeople(): readonly string[] | undefined;
  /** Sends mails through the server of the first destination of type `email`. */
  mailer: {
    /** False if there is no such destination, or if the server is quiet. */
    readonly isUsable: boolean;
    /** Sends a mail once. */
    send(mail: OutsideMail): Promise<MailOutcome>;
  };
  /** Returns the position of an incident in its escalation policy. Null without a policy. */
  describeEscalation(incident: SharedIncident): IncidentEscalation | null;
  /** Returns the next escalation step of an incident as an action. Undefined after the last step. */
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
  heartbeats?: HeartbeatSource;
  hosts?: HostSource;
  commands?: CommandSource;
  availability?: AvailabilitySource;
}
