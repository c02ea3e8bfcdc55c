import type { Static, TObject } from 'typebox';
import type { OwnAlerts } from '../../../kit/alert-source.ts';
import type { Parts } from '../../../kit/feature.ts';
import type { FollowedLog, RecordLog } from '../../../storage/record-log.ts';
import type { FiringState } from '../firing/firing-alerts.ts';
import type { AlertStore, AlertStoreParts } from './alert-store.ts';
import type { alertLogSettings } from './settings.ts';

/**
 * Log of alerts with its writer and the states folded from it. It is stored in files (`file-log.ts`) or in a shared
 * database (`shared-log.ts`).
 */
export interface AlertLog {
  /** Alerts without feature events. */
  journal: RecordLog;
  /** Alerts, and the features' events about alerts. */
  events: FollowedLog;
  /** Alerts received by this instance. */
  own: OwnAlerts;
  /** True if this instance received the alert. */
  isOwn(record: Record<string, unknown>): boolean;
  store: AlertStore;
  firing: FiringState;
  /** Resolves once `firing` has caught up with the readable part of the log. */
  whenRead(): Promise<void>;
  /** Lines for the start message. */
  notices: string[];
  /**
   * Returns the readiness. `isReady` is true if alerts can be stored. `unavailable` names other parts that are
   * currently unusable.
   */
  readiness(): { isReady: boolean; unavailable: string[] };
  /** Lets retention delete files. Call only after every reader has called `holdFrom`. */
  beginRetention(): void;
  close(): Promise<void>;
}

export type AlertLogParts = Pick<Parts, 'storage' | 'clock' | 'log' | 'meters'> &
  Pick<AlertStoreParts, 'repeatAfterMs' | 'onReceived'> & { settings: Static<TObject<typeof alertLogSettings>> };
