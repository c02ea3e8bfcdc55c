import type { Static } from 'typebox';
import type { Scope } from '../auth/rights.ts';
import type { StoredRecord } from '../storage/journal/line.ts';
import type { AlertDelivery, AlertSource } from './alert-source.ts';
import type { SharedIncident } from './incident.ts';
import type { IncidentNotification, IncidentSource } from './incident-source.ts';
import type { History } from './machine.ts';
import type { SettingStore } from './setting-store.ts';
import type { SilenceStore } from './silence-source.ts';

/** Shares from which the machine has a problem: limits of the default watches, and of the status for values without a watch. */
export const hostLimits = { cpu: 0.95, memory: 0.95, disk: 0.9, fullDisk: 0.97 };

/** Source of the feature `watches`, for the status. */
export interface WatchSource {
  /** True if a watch of this or another instance checks the value, so that the status need not. */
  covers(what: 'cpu' | 'memory' | { mountPath: string }): boolean;
  /** Watches that a host checks for this hub. */
  listFor(host: { name: string; tags: readonly string[] }): PushedWatches;
  /** Id of the watches that the hub of this server has sent. */
  readonly receivedId: string;
  /** Replaces the watches of the hub; resolves once they are on disk. */
  receive(watches: PushedWatches): Promise<void>;
  /** Last results of the watches whose results are votes. */
  listChecks(): HostCheck[];
}

/** Watch that a host checks for its hub. With `isVote`, the host raises no alert, but reports its results. */
export interface PushedWatch {
  watch: object;
  isVote: boolean;
}

/** Watches of a host; the id changes with them. */
export interface PushedWatches {
  id: string;
  list: PushedWatch[];
}

/** Last result of a watch about one thing, at a host. */
export interface HostCheck {
  watch: string;
  thing: string;
  state: 'good' | 'bad' | 'unknown';
  text: string;
}

/** Result of a host as the hub knows it, with the time of the report in Unix milliseconds. */
export interface PlaceCheck extends HostCheck {
  host: string;
  at: number;
}

/** Hosts that report to this server, for features that count their votes. */
export interface HostSource {
  /** Last results of a watch at all hosts. */
  listChecks(watch: string): PlaceCheck[];
  /**
   * Runs a command line at a host. Rejects with an HttpError for a host that is unknown or allows no commands, and with the reason of
   * the signal.
   */
  runCommand(
    host: string,
    command: { line: string; by: string | null; requestId: string },
    signal: AbortSignal,
  ): Promise<RemoteResult>;
}

/** Output of a command at another machine. */
export interface RemoteOutput {
  rows: Record<string, unknown>[];
  truncated: boolean;
}

/** Output, or the reason of a failure for people. */
export type RemoteResult = RemoteOutput | { error: string };

/** Commands of this machine, for the hub that it reports to. */
export interface CommandSource {
  /** Checks, runs and audits a command line; never rejects. */
  execute(line: string, caller: { by: string | null; requestId: string; hub: string }): Promise<RemoteResult>;
}

/** Columns of the history; columns of disks are bytes. */
export type HistoryColumn =
  | 'cpu'
  | 'memoryUsed'
  | 'memoryTotal'
  | 'swapUsed'
  | 'load'
  | 'networkReceived'
  | 'networkSent'
  | { mountPath: string; of: 'used' | 'total' };

/** Source of the feature `history`. */
export interface HistorySource {
  /** Seconds between two values. */
  step: number;
  /** Returns the last `count` values, oldest first; NaN stands for unknown. */
  list(column: HistoryColumn, count: number): number[];
  /** Returns the last 10 minutes in steps of 5 seconds; null without values. */
  readRecent(): Static<typeof History> | null;
}

/** Source of the feature `accounts`, for features with streaming responses. */
interface AccessSource {
  /** Calls the listener when users or keys have changed or tokens were revoked. */
  onChanged(listener: () => void): void;
  /** Returns a key by name, and whether it is in the config file; undefined without one. */
  findKey(name: string): { scopes: readonly Scope[]; isConfigured: boolean } | undefined;
  /** Creates a key, and resolves to its text once it is accepted. Rejects with an HttpError if the name is taken. */
  createKey(name: string, scopes: readonly Scope[], by: string): Promise<string>;
  /** Deletes a key that was created at run time. */
  deleteKey(name: string, by: string): Promise<void>;
}

/** Source of the feature `tasks`. */
export interface TaskSource {
  /** Creates a task and resolves to its id. Within 24 hours, an equal `key` resolves to the existing task. */
  create(
    fields: { Title: string; Description: string; Priority: 'Low' | 'Medium' | 'High' | 'Critical' },
    key: string,
  ): Promise<number>;
}

/** Source of the feature `notifications`. */
export interface NotificationSource {
  /** Returns the milliseconds after which a repeated alert is stored again; undefined if no destination repeats alerts. */
  repeatAfterMs(): number | undefined;
  /** Returns the delivery status of an alert for each destination. */
  deliveriesOf(record: StoredRecord): readonly AlertDelivery[];
  /** Returns the last and next notification of an incident for each destination. */
  describe(incident: SharedIncident): readonly IncidentNotification[];
}

/** Sources of the active features, by the features' names. */
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
}
