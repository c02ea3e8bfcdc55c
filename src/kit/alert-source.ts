import Type, { type Static } from 'typebox';
import type { FollowedLog, RecordLog } from '../storage/record-log.ts';
import { defineShape, nullable } from './shape.ts';

/** Delivery status of an alert at one destination. */
export const AlertDelivery = defineShape('AlertDelivery', {
  destination: Type.String({ description: 'Name of the destination.', examples: ['pager'] }),
  status: Type.Enum(['waiting', 'delivered', 'skipped', 'parked', 'unknown'], {
    type: 'string',
    description:
      '`skipped`: not for this destination. `parked`: given up. `unknown`: delivered, or no longer listed as given up.',
  }),
  attempts: Type.Integer({ description: 'Number of failed attempts, while the alert waits.', examples: [0] }),
  error: nullable(
    Type.String({ examples: ['the receiver responded 404'] }),
    'Reason why the alert was given up; `null` for other alerts.',
  ),
});

export type AlertDelivery = Static<typeof AlertDelivery>;

/** Alert that signalbox itself raises. */
export interface RaisedAlert {
  /** Source. Default: `signalbox`, with this machine as host name and the native format. */
  source?: string;
  hostname?: string;
  format?: string;
  level: string;
  message: string;
  status: 'firing' | 'resolved';
  fingerprint: string;
  labels: Record<string, string>;
  details?: string;
  /** In a resolution: the id of the firing alert that it resolves. */
  resolves?: string;
  /** In a resolution: the level of the firing alert that it resolves. */
  firingLevel?: string;
  /** Start of the problem, RFC 3339. */
  startsAt?: string;
}

/** Log of the alerts received by one instance. */
export type OwnAlerts = Pick<RecordLog, 'readAfter' | 'onStored' | 'holdFrom' | 'state'>;

/**
 * Series of alerts that signalbox itself raised with one fingerprint, from the first firing alert to the resolution.
 */
export interface RaisedSeries {
  /** Id of the most severe alert. Of several equally severe alerts, the latest one counts. */
  id: string;
  /** Level of the most severe alert. */
  level: string;
  /** Ids of the latest firing alerts. */
  ids: readonly string[];
  isResolved: boolean;
}

/** Alerts, as offered by the feature `alerts`. */
export interface AlertSource {
  /** Log of all stored alerts, from all instances with one database. */
  journal: RecordLog;
  /** Log of all stored alerts and events, to which features can append events. */
  events: FollowedLog;
  /** True if this instance stored the record. */
  isOwn(record: Record<string, unknown>): boolean;
  /** Alerts that this instance has received and delivers. Retention starts with `holdFrom`. */
  own: OwnAlerts;
  /**
   * Resolves to the name of this data directory in `via`, such as `signalbox/0123456789abcdef`. Creates the name on
   * first use.
   */
  readInstance(): Promise<string>;
  /**
   * Returns the name that all instances with one database share, for use in forwarded alerts. Undefined without a
   * database.
   */
  shareOrigin(): string | undefined;
  /** Returns the number of alerts that this instance has stored since startup, by lower-case severity. */
  countReceived(): Record<string, number>;
  /** Stores an alert raised by signalbox itself. */
  raise(alert: RaisedAlert): Promise<{ id: string }>;
  /** Resolves to the latest series of signalbox's own alerts in a format, by fingerprint. */
  listRaised(format: string): Promise<Map<string, RaisedSeries>>;
  /**
   * Resolves to the milliseconds since the last alert or repeat from the wanted sources. Time during which the server
   * could not receive alerts does not count. Undefined if there was no alert.
   */
  quietMsOf(isWanted: (source: string) => boolean): Promise<number | undefined>;
}
