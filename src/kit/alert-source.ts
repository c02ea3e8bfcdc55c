import Type, { type Static } from 'typebox';
import type { FollowedLog, RecordLog } from '../storage/record-log.ts';
import { defineShape, nullable } from './route.ts';

/** What has become of an alert at a destination. */
export const AlertDelivery = defineShape('AlertDelivery', {
  destination: Type.String({ description: 'Name of the destination.', examples: ['pager'] }),
  status: Type.Enum(['waiting', 'delivered', 'skipped', 'parked', 'unknown'], {
    type: 'string',
    description: '`skipped`: not for this destination. `unknown`: delivered, or one of very many that were parked.',
  }),
  attempts: Type.Integer({ description: 'Failed attempts, while the alert waits.', examples: [0] }),
  error: nullable(
    Type.String({ examples: ['the receiver responded 404'] }),
    'Why it is parked. `null` where there is none.',
  ),
});

export type AlertDelivery = Static<typeof AlertDelivery>;

/** An alert that signalbox raises itself. */
interface RaisedAlert {
  /** By default signalbox, on this machine, and as a native one. */
  source?: string;
  hostname?: string;
  format?: string;
  level: string;
  message: string;
  status: 'firing' | 'resolved';
  fingerprint: string;
  labels: Record<string, string>;
  details?: string;
  /** Of a resolved alert: the id of the one that it ends, and its level. */
  resolves?: string;
  firingLevel?: string;
  /** RFC 3339. */
  startsAt?: string;
}

/** The alerts that one instance has received. */
export type OwnAlerts = Pick<RecordLog, 'readAfter' | 'onStored' | 'holdFrom' | 'state'>;

/** Alerts of one sender about the same thing, from the first that fires to the one that says that it has ended. */
export interface RaisedSeries {
  /** The worst of them, and its level; of several the last one. */
  id: string;
  level: string;
  /** Those that fire, the last ones. */
  ids: readonly string[];
  isResolved: boolean;
}

/** What the alerts feature offers to features that work with stored alerts. */
export interface AlertSource {
  /** All stored alerts; shared by all instances where they share a database. */
  journal: RecordLog;
  /** The same, with events of features, which may append them. */
  events: FollowedLog;
  /** Whether this instance has stored the record; of several that share a database, one has. */
  isOwn(record: Record<string, unknown>): boolean;
  /** The alerts that this instance has received, and delivers. Retention begins with `holdFrom`. */
  own: OwnAlerts;
  /** The name of this data directory in `via`, made on first use: `signalbox/0123456789abcdef`. */
  readInstance(): Promise<string>;
  /** What instances that share a database are called together where others receive their alerts; undefined for one alone. */
  shareOrigin(): string | undefined;
  /** How many alerts this instance has stored since its start, by severity in lower case. */
  countReceived(): Record<string, number>;
  /** Stores an alert of signalbox's own. */
  raise(alert: RaisedAlert): Promise<{ id: string }>;
  /** What the log says of its own alerts with this format, by fingerprint; of very many it knows the last ones. */
  listRaised(format: string): Promise<Map<string, RaisedSeries>>;
  /**
   * Milliseconds since an alert of one of the sources came in, repeats included; time in which none could come in does not count.
   * Undefined if none is known.
   */
  silenceOf(isWanted: (source: string) => boolean): Promise<number | undefined>;
}
