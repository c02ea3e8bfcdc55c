import Type, { type Static } from 'typebox';
import type { FollowedLog, RecordLog } from '../storage/record-log.ts';
import { defineShape, nullable } from './route.ts';

/** Delivery status of an alert for a destination. */
export const AlertDelivery = defineShape('AlertDelivery', {
  destination: Type.String({ description: 'Name of the destination.', examples: ['pager'] }),
  status: Type.Enum(['waiting', 'delivered', 'skipped', 'parked', 'unknown'], {
    type: 'string',
    description:
      '`skipped`: not for this destination. `unknown`: delivered, or no longer among the remembered parked alerts.',
  }),
  attempts: Type.Integer({ description: 'Number of failed attempts, while the alert waits.', examples: [0] }),
  error: nullable(
    Type.String({ examples: ['the receiver responded 404'] }),
    'Reason why the alert is parked; `null` for other alerts.',
  ),
});

export type AlertDelivery = Static<typeof AlertDelivery>;

/** An alert that signalbox raises itself. */
interface RaisedAlert {
  /** Source; `signalbox` by default, with this machine as host name and the native format. */
  source?: string;
  hostname?: string;
  format?: string;
  level: string;
  message: string;
  status: 'firing' | 'resolved';
  fingerprint: string;
  labels: Record<string, string>;
  details?: string;
  /** Id of the firing alert that a resolution resolves. */
  resolves?: string;
  /** Level of the firing alert that a resolution resolves. */
  firingLevel?: string;
  /** Start of the problem, RFC 3339. */
  startsAt?: string;
}

/** Log of the alerts that one instance has received. */
export type OwnAlerts = Pick<RecordLog, 'readAfter' | 'onStored' | 'holdFrom' | 'state'>;

/** Series of signalbox's own alerts with one fingerprint, from the first firing alert to the resolution. */
export interface RaisedSeries {
  /** Id of the worst alert, of several the latest. */
  id: string;
  /** Level of the worst alert. */
  level: string;
  /** Ids of the latest firing alerts. */
  ids: readonly string[];
  isResolved: boolean;
}

/** Source of the feature `alerts`. */
export interface AlertSource {
  /** Log of all stored alerts, of all instances with one database. */
  journal: RecordLog;
  /** Log of all stored alerts and of events, to which features can append. */
  events: FollowedLog;
  /** True if this instance has stored the record. */
  isOwn(record: Record<string, unknown>): boolean;
  /** Alerts that this instance has received and delivers. Retention begins with `holdFrom`. */
  own: OwnAlerts;
  /** Resolves to the name of this data directory in `via`, created on first use: `signalbox/0123456789abcdef`. */
  readInstance(): Promise<string>;
  /** Returns the common name of the instances with one database, for forwarded alerts; undefined without a database. */
  shareOrigin(): string | undefined;
  /** Returns the number of alerts stored by this instance since its start, by severity in lower case. */
  countReceived(): Record<string, number>;
  /** Stores an alert of signalbox's own. */
  raise(alert: RaisedAlert): Promise<{ id: string }>;
  /** Resolves to the latest series of signalbox's own alerts with the format, by fingerprint. */
  listRaised(format: string): Promise<Map<string, RaisedSeries>>;
  /**
   * Resolves to the milliseconds since the last alert or repeat of the wanted sources, without times in which the server could not
   * receive alerts; undefined without an alert.
   */
  silenceOf(isWanted: (source: string) => boolean): Promise<number | undefined>;
}
