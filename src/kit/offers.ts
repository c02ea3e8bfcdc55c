import Type, { type Static } from 'typebox';
import type { StoredRecord } from '../storage/journal/line.ts';
import type { Awaitable } from '../storage/list.ts';
import type { FollowedLog, RecordLog } from '../storage/record-log.ts';
import type { History } from './machine.ts';
import { defineShape, nullable, Time } from './route.ts';
import { type Severity, severities } from './severity.ts';

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

/**
 * Sources of the mounted features, for other features. Those of features before one in the list are there when it is created; those
 * after it once all are created, so they are read when a request or a timer needs them.
 */
export interface Offers {
  access?: AccessSource;
  alerts?: AlertSource;
  settings?: SettingStore;
  silences?: SilenceStore;
  incidents?: IncidentSource;
  notifications?: NotificationSource;
  tasks?: TaskSource;
  history?: HistorySource;
  watches?: WatchSource;
}

/** A setting that somebody has made at run time. */
export interface RuntimeSetting<T = unknown> {
  name: string;
  value: T;
  /** Another one after each change, also where the setting was deleted and made again. */
  version: number;
  /** Who has changed it last, and when, in Unix milliseconds. */
  by: string;
  at: number;
  createdAt: number;
}

/** Bounds of the settings of a kind, which hold however many changes come at once, and what a change may do in spite of them. */
export interface PutOptions {
  /** How many there can be, and how the refusal of one more calls them and what it advises; by default to delete some. */
  most?: { count: number; plural: string; advice?: string };
  /** The most characters of all their values as JSON; 4 MiB by default. */
  characters?: number;
  /** Names that differ only in capitals are the same. */
  isCaseless?: boolean;
  /** Takes rights away: such a change is never refused for want of room. */
  isRevocation?: boolean;
  /** What the audit calls it, where its name is only an id. */
  label?: string | undefined;
}

/** Why a setting cannot be read, and what the audit calls it. */
export interface BrokenReason {
  reason: string;
  label: string | undefined;
}

/**
 * What the settings feature offers: settings made at run time, by kind and name; shared by all instances where they share a
 * database. Values are JSON, and checked by the feature that puts them. Methods reject with StoreUnavailable while changes
 * cannot be stored, and with a StoreConflict unless the version is expected; 0 stands for none.
 */
export interface SettingStore {
  /** The current ones, oldest first. */
  list<T>(kind: string): RuntimeSetting<T>[];
  find<T>(kind: string, name: string): RuntimeSetting<T> | undefined;
  /**
   * Resolves, once it is stored, to the setting as it is then. Settings of the kind whose values have an `endsAt` in the past,
   * in Unix milliseconds, give way to it. Rejects with an HttpError where there is no room.
   */
  put<T>(
    kind: string,
    name: string,
    value: T,
    by: string,
    expected?: readonly number[],
    options?: PutOptions,
  ): Promise<RuntimeSetting<T>>;
  /** Resolves to whether there was one; `label` is what the audit calls it, where its name is only an id. */
  delete(kind: string, name: string, by: string, expected?: readonly number[], label?: string): Promise<boolean>;
  /** Replaces the reasons why settings of a kind cannot be read, by name: they stay stored, and are listed and reported. */
  noteBroken(kind: string, broken: ReadonlyMap<string, BrokenReason>): void;
  /** False until what is stored was read, since a database may be away on startup. */
  isRead(): boolean;
  /** Learns now what other instances have changed. */
  catchUp(): Promise<void>;
  /** Also tells of changes of other instances, within about a second. */
  onChanged(kind: string, listener: () => void): void;
}

/** What a silence may match. */
export interface Silenceable {
  source: string;
  hostname: string;
  level: Severity;
  text: string;
  labels: Record<string, string> | null;
}

/** What the silences feature offers to features that notify people. */
export interface SilenceSource {
  /** The ids of the silences that hold for the subject at that time, in Unix milliseconds. */
  silencesOf(subject: Silenceable, at: number): string[];
  /** When time alone may change an answer; undefined if it never does. */
  nextChangeAfter(at: number): number | undefined;
  onChanged(listener: () => void): void;
}

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

/** What has become of alerts and incidents at destinations. */
export interface NotificationSource {
  /** After how many milliseconds an alert that comes again is stored again; undefined if no destination wants that. */
  repeatAfterMs(): number | undefined;
  /** What has become of an alert at each destination. */
  deliveriesOf(record: StoredRecord): readonly AlertDelivery[];
  /** The last and next notification of an incident to each destination. */
  describe(incident: SharedIncident): readonly IncidentNotification[];
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
  /** Calls the listener when another program has moved or changed files of the log. */
  onMoved(listener: () => void): void;
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

/** Events of an incident that people are notified of. */
export const notificationKinds = ['opened', 'raised', 'resolved', 'reminder', 'acknowledged'] as const;
export type NotificationKind = (typeof notificationKinds)[number];

/** The last notification of an incident to a destination, or the one that it refused for good. */
export interface IncidentNotice {
  what: NotificationKind;
  level: Severity;
  /** Unix milliseconds. */
  at: number;
  /** For which time that the incident became open. */
  opening: number;
  /** Whether the destination has ever been notified of it. */
  isTold: boolean;
  /** It is about to be notified of it for the first time: after kill -9 nobody knows whether it was. */
  isPending?: true;
}

/** What became of a notification. */
export interface IncidentDelivery {
  destination: string;
  what: NotificationKind;
  /** The incident's when it was sent, as is the opening. */
  level: Severity;
  opening: number;
  isDelivered: boolean;
  /** `delivered`, or why it was given up. */
  result: string;
  /** It went to a destination that is notified only if nobody takes the incident. */
  isEscalation?: boolean;
}

/** An incident as other features read it; times are Unix milliseconds. It is never changed, but replaced by another one. */
export interface SharedIncident {
  id: string;
  number: number;
  /** What its alerts have in common, for people: the sender's key, or source, host name and message. */
  about: string;
  /** Who sends its alerts; null for all who have no credential. */
  sender: string | null;
  state: 'open' | 'acknowledged' | 'resolved';
  level: Severity;
  highestLevel: Severity;
  title: string;
  source: string;
  hostname: string;
  labels: Record<string, string> | null;
  link: string | null;
  count: number;
  firstAt: number;
  lastAt: number;
  /** Since when it is not resolved, if it is not. */
  openedAt: number;
  stateSince: number;
  /** How often it has become open: at first, again, and after an acknowledgement has ended. */
  openings: number;
  /** When its level rose last since it became open. */
  raisedAt: number | null;
  acknowledged: { by: string; at: number; until: number | null; comment: string | null } | null;
  resolved: { by: string | null; at: number; reason: 'sender' | 'person' | 'quiet' } | null;
  reopened: number;
  task: number | null;
  /** When it was recorded what its machine was doing, if it was, and whether that is still kept. */
  snapshot: { at: number; isKept: boolean } | null;
  /** The id of its latest alert. */
  lastAlert: string;
  /** It was made of alerts from before there were incidents: nobody is notified of it. */
  isOld: boolean;
  /** What each destination was told last. Once it is resolved, of those that have not heard of that yet. */
  notices: Record<string, IncidentNotice>;
  /** As it was when its timeline last said that a silence keeps it quiet. */
  silenced: { level: Severity; opening: number } | null;
  /** Rises with each event that alerts, people or time have caused, and with no other. */
  version: number;
  /** Its place in the order of changes of all incidents. */
  change: number;
}

/** What other features do to an incident. */
export type SharedAction = { id: string; by: string } & (
  | { type: 'acknowledge'; comment?: string | undefined; until?: number | undefined }
  | { type: 'resolve'; comment?: string | undefined }
  | ({ type: 'notify' } & IncidentDelivery)
  /** The destination is about to be notified of it for the first time. */
  | { type: 'attempt'; destination: string }
  /** These destinations need not hear of it any more. */
  | { type: 'forget'; destinations: readonly string[] }
  /** A silence keeps it quiet. */
  | { type: 'silence' }
  /** What its machine was doing is stored since then, in Unix milliseconds, or is not kept any more. */
  | { type: 'snapshot'; takenAt: number; isKept: boolean }
);

/** A notification that was sent, or given up. */
export interface SentNotification {
  incident: { id: string; number: number; title: string };
  at: number;
  /** Of an event of the timeline: `escalated` where nobody had taken the incident. */
  event: 'notified' | 'escalated' | 'reminder';
  destination: string;
  what: NotificationKind;
  level: Severity;
  result: string;
  /** Its place in the order of changes. */
  change: number;
}

export interface SentFilter {
  destination?: string | undefined;
  /** An incident's id. */
  incident?: string | undefined;
}

/** The next notification of an incident to a destination. */
export const NextNotification = defineShape('NextNotification', {
  what: Type.Enum(notificationKinds, { type: 'string', examples: ['reminder'] }),
  dueAt: nullable(Time, 'When it is sent at the earliest; `null` where no time is known.'),
  waitsFor: Type.Enum(['grouping', 'after', 'repeat', 'hours', 'offDuty', 'silence', 'receiver'], {
    type: 'string',
    description:
      'Why it is not sent yet: it waits for others to be in the same message, for `after`, `repeat` or `hours` of the destination, for its turn to be on call, for the end of a silence, or for the receiver.',
  }),
  attempts: Type.Integer({ description: 'Failed attempts.', examples: [0] }),
  error: nullable(Type.String({ examples: ['the connection was refused'] }), 'Why the last attempt failed.'),
});

const LastNotification = defineShape('LastNotification', {
  what: Type.Enum(notificationKinds, { type: 'string', examples: ['opened'] }),
  level: Type.Enum(severities, { type: 'string', examples: ['ERROR'] }),
  at: Time,
});

/** The last and next notification of an incident to a destination. */
export const IncidentNotification = defineShape('IncidentNotification', {
  destination: Type.String({ description: 'Name of the destination.', examples: ['pager'] }),
  last: nullable(LastNotification, 'The last notification; `null` if there was none, or after that of the end.'),
  next: nullable(NextNotification, 'The next notification, unless something happens before; `null` if none is due.'),
});
export type IncidentNotification = Static<typeof IncidentNotification>;

/** Incidents, for features that show them or tell people of them. */
export interface IncidentSource {
  /** The incidents of alerts, in their order; undefined for those that are in none, or not yet. */
  nameIncidents(alerts: readonly StoredRecord[]): Awaitable<readonly ({ id: string; number: number } | undefined)[]>;
  /** Those that are not resolved, and those with destinations that have not heard that they are; some at a time. */
  listUnsettled(): AsyncIterable<readonly SharedIncident[]>;
  /** By its id or its number. */
  find(id: string | number): Awaitable<SharedIncident | undefined>;
  /** By the id or number in a path. Rejects with an HttpError if there is none. */
  require(id: string): Promise<SharedIncident>;
  /** Resolves, once it is stored, to the incident as it is then; to undefined if there is none. Rejects with an HttpError. */
  act(action: SharedAction): Promise<SharedIncident | undefined>;
  /** What was sent, newest first, before the place of another one. */
  listSent(filter: SentFilter, limit: number, before?: number): Awaitable<SentNotification[]>;
  /** Calls the listener with incidents that are new or have changed, also where they only have more alerts. */
  onChanged(listener: (incidents: readonly SharedIncident[]) => void): void;
  /** Resolves when all alerts are counted that are stored now. */
  catchUp(): Promise<void>;
}

/** What the tasks feature offers to features that create tasks. */
export interface TaskSource {
  /** Creates a task and resolves to its id; with the same key, for 24 hours, to that of the first one. */
  create(
    fields: { Title: string; Description: string; Priority: 'Low' | 'Medium' | 'High' | 'Critical' },
    key: string,
  ): Promise<number>;
}

/** A matcher of Alertmanager: `name="value"`, with `isRegex` `=~`, without `isEqual` `!=` or `!~`. */
export interface SilenceMatcher {
  name: string;
  value: string;
  isRegex: boolean;
  isEqual: boolean;
}

/** A silence as Alertmanager has it; times are Unix milliseconds. Of a recurring one they are those of its window. */
export interface SharedSilence {
  id: string;
  state: 'active' | 'pending' | 'expired';
  matchers: readonly SilenceMatcher[];
  startsAt: number;
  endsAt: number;
  comment: string;
  /** Who a program says has made it, or else who has. */
  createdBy: string;
  updatedAt: number;
}

/** What a program of Alertmanager wants a silence to be. */
export type GivenSilence = Pick<SharedSilence, 'matchers' | 'startsAt' | 'endsAt' | 'comment' | 'createdBy'>;

/** What the silences feature offers to the API of Alertmanager, beside the answers. */
export interface SilenceStore extends SilenceSource {
  list(): Iterable<SharedSilence>;
  find(id: string): SharedSilence | undefined;
  /** Resolves to the id of the new silence. Rejects with an HttpError. */
  create(silence: GivenSilence, by: string): Promise<string>;
  /**
   * Changes one; where more changes than its end and comment, it ends and another one begins. Resolves to the id, or to
   * undefined if there is no such silence. Rejects with an HttpError.
   */
  replace(id: string, silence: GivenSilence, by: string): Promise<string | undefined>;
  /** Ends one now; resolves to whether there is one. */
  end(id: string, by: string): Promise<boolean>;
  /** What matchers are compared with: labels of alerts, and what is made of the other fields. */
  labelsOf(subject: Silenceable): ReadonlyMap<string, string>;
  /** Whether labels pass all matchers. Throws an HttpError for a regular expression that cannot be used. */
  createFilter(matchers: readonly SilenceMatcher[]): (labels: ReadonlyMap<string, string>) => boolean;
}

/** The labels that an alert has in the API of Alertmanager where its sender gives it none of these. */
export const deriveLabels = ({ source, hostname, level }: Pick<Silenceable, 'source' | 'hostname' | 'level'>) => ({
  alertname: source || 'signalbox',
  severity: level.toLowerCase(),
  ...(hostname !== '' && { instance: hostname }),
});
