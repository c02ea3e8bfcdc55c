import type { Static } from 'typebox';
import type { StoredRecord } from '../storage/journal/line.ts';
import type { AlertDelivery, AlertSource } from './alert-source.ts';
import type { SharedIncident } from './incident.ts';
import type { IncidentNotification, IncidentSource } from './incident-source.ts';
import type { History } from './machine.ts';
import type { SettingStore } from './setting-store.ts';
import type { SilenceStore } from './silence-source.ts';

/**
 * From these shares on the machine needs attention: what the default watches raise alerts for, and what the health says where
 * no watch looks.
 */
export const hostLimits = { cpu: 0.95, memory: 0.95, disk: 0.9, fullDisk: 0.97 };

/** What watches offer to the health. */
export interface WatchSource {
  /** Whether a watch looks at it, on this instance or another one, so that the watch says whether it needs attention. */
  covers(what: 'cpu' | 'memory' | { mountPath: string }): boolean;
}

/** Readings that the history keeps, by their columns; of disks, bytes. */
export type HistoryColumn =
  | 'cpu'
  | 'memoryUsed'
  | 'memoryTotal'
  | 'swapUsed'
  | 'load'
  | 'networkReceived'
  | 'networkSent'
  | { mountPath: string; of: 'used' | 'total' };

/** What the history offers to features that show how a reading has developed. */
export interface HistorySource {
  /** Seconds between two values. */
  step: number;
  /** The values of so many steps up to now, oldest first; NaN stands for unknown. */
  list(column: HistoryColumn, count: number): number[];
  /** The last 10 minutes in steps of 5 seconds; null if nothing is known of them. */
  readRecent(): Static<typeof History> | null;
}

/** What the login offers to features with responses that go on. */
interface AccessSource {
  /** Calls the listener when users or keys have changed, or tokens were revoked. */
  onChanged(listener: () => void): void;
}

/** What the tasks feature offers to features that create tasks. */
export interface TaskSource {
  /** Creates a task and resolves to its id; with the same key, for 24 hours, to that of the first one. */
  create(
    fields: { Title: string; Description: string; Priority: 'Low' | 'Medium' | 'High' | 'Critical' },
    key: string,
  ): Promise<number>;
}

/** What has become of alerts and incidents at destinations. */
export interface NotificationSource {
  /** After how many milliseconds an alert that comes again is stored again; undefined if no destination wants that. */
  repeatAfterMs(): number | undefined;
  /** What has become of an alert at each destination. */
  deliveriesOf(record: StoredRecord): readonly AlertDelivery[];
  /** The last and next notification of an incident to each destination. */
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
}
