import { hash } from 'node:crypto';
import {
  formatOf,
  isAboutSomething,
  ownSender,
  readTime,
  toKnownHost,
  toText,
  toTextOrNull,
} from '../../kit/alert-record.ts';
import { toIncidentFacts } from '../../kit/incident-facts.ts';
import type { SentNotification, SharedIncident } from '../../kit/incident-source.ts';
import { toTimeOrNull, toTimeText } from '../../kit/route.ts';
import { type Severity, toSeverity } from '../../kit/severity.ts';
import type { SilenceSource } from '../../kit/silence-source.ts';
import { shorten } from '../../lib/well-formed.ts';
import { createIdOf, readIdTime, type StoredRecord } from '../../storage/journal/line.ts';
import type { Incident, IncidentAlert, IncidentEvent } from './schema.ts';
import type { Spans } from './spans.ts';

/** The most events that are kept of an incident. */
export const mostEvents = 200;

/** The most characters of a title, and of what an incident is about. */
const longestTitle = 500;
const longestAbout = 256;

/** The most characters of a source and a host name, which native alerts do not bound. */
const longestName = 256;

/** The most characters of a key before it becomes a hash. */
const longestKey = 160;

/** An incident as stores keep it. */
export interface StoredIncident extends SharedIncident {
  /** What its alerts have in common; at most the last incident with a key is not resolved. */
  key: string;
  /** How its alerts are found in the log. */
  trait: 'fingerprint' | 'texts' | 'overflow';
  /** Its sender says when it is over, so it does not end because nothing comes. */
  endsBySender: boolean;
  /** The number of its last event. */
  lastEvent: number;
  /** For each time that it was open. */
  spans: Spans;
  lastAlert: string;
  /** The id of its latest alert that fires; missing in incidents of versions before 1.2. */
  firingAlert?: string;
  /** The incident before it with the same key. */
  previous: string | null;
}

/** The incident of a state or a row, which may have been stored before there were notices or snapshots. */
export const completeIncident = (stored: StoredIncident): StoredIncident => {
  if (stored.snapshot !== undefined) return stored;
  if (stored.lastEvent !== undefined) return { ...stored, snapshot: null };
  return {
    ...{ ...stored, openings: stored.reopened + 1, raisedAt: null, notices: {} },
    ...{ silenced: null, snapshot: null, lastEvent: stored.version },
  };
};

/** An event of the timeline as stores keep it: members that are null in a response are missing. */
export type StoredEvent = { at: number; type: IncidentEvent['type'] } & Partial<
  Pick<IncidentEvent, 'by' | 'level' | 'alert' | 'comment' | 'reason' | 'task' | 'destination' | 'what' | 'result'>
> & {
    until?: number;
    /** Of what was sent: its place in the order of changes of all incidents. */
    change?: number;
  };

/** What the fold reads of an alert. */
export interface FoldedAlert {
  seq: number;
  id: string;
  at: number;
  key: string;
  severity: Severity;
  isResolved: boolean;
  isAcknowledgement: boolean;
  record: StoredRecord;
}

export const toFoldedAlert = (record: StoredRecord): FoldedAlert => ({
  seq: record.seq,
  id: record.id,
  at: readTime(record) ?? readIdTime(record.id) ?? 0,
  key: toIncidentKey(record),
  severity: toSeverity(toText(record['level'])),
  isResolved: record['status'] === 'resolved',
  isAcknowledgement: record['acknowledges'] === true,
  record,
});

/** What alerts of one incident have in common. A sender can neither join nor end the incidents of others. */
export const toIncidentKey = (record: StoredRecord): string => {
  const { format, source, hostname } = record;
  const sender = toSenderGroup(record['sender']);
  return toTrait(record) === 'fingerprint'
    ? toKey([sender, format ?? null, record['fingerprint']])
    : toKey([sender, null, source, hostname, replaceDigits(toMessage(record))]);
};

const toTrait = (record: StoredRecord): 'fingerprint' | 'texts' => (isAboutSomething(record) ? 'fingerprint' : 'texts');

/** Who sends: a key or a user; null for all who have no credential, and for lines of version 1.0, which do not say it. */
const toSenderGroup = (sender: unknown): string | null =>
  typeof sender === 'string' && !sender.startsWith('address:') ? sender : null;

/** Without what is put before the message of another program's alert once it is resolved. */
const toMessage = ({ format, status, message }: StoredRecord): string =>
  format !== undefined && status === 'resolved' ? toText(message).replace(/^Resolved: /, '') : toText(message);

/** "/var is 86 % full" and "/var is 87 % full" are about the same. */
const replaceDigits = (message: string): string => message.replaceAll(/\d+/g, '#');

/** The texts themselves if they are short, which is quicker. */
const toKey = (texts: readonly unknown[]): string => {
  const json = JSON.stringify(texts);
  return json.length <= longestKey ? json : hash('sha256', json, 'base64url');
};

/** The key of the incident that counts alerts beyond the most that can be open. */
export const overflowKey = 'overflow';

type Description = Pick<
  StoredIncident,
  'trait' | 'about' | 'sender' | 'endsBySender' | 'title' | 'source' | 'hostname' | 'labels' | 'link'
>;

/** What a new incident takes from its first alert. */
export const describeAlert = ({ record }: FoldedAlert): Description => {
  const trait = toTrait(record);
  const texts = [record['source'], record['hostname'], replaceDigits(toText(record['message']))];
  const about = trait === 'fingerprint' ? toText(record['fingerprint']) : texts.map(toText).filter(Boolean).join(' · ');
  return {
    trait,
    about: shorten(about, longestAbout),
    sender: toSenderGroup(record['sender']),
    // Programs that know what fires also say when it is over; of native alerts only the first resolution shows that.
    endsBySender: trait === 'fingerprint' && (record['format'] !== undefined || record['sender'] === ownSender),
    title: toTitle(record),
    source: toName(record['source']),
    hostname: toName(record['hostname']),
    labels: hasMembers(record['labels']) ? record['labels'] : null,
    link: toTextOrNull(record['link']),
  };
};

/** The one incident of the alerts that would open more than there can be. */
export const overflowDescription: Description = {
  ...{ trait: 'overflow', about: overflowKey, sender: null, endsBySender: false },
  title: 'Too many incidents are open: this one has all further alerts',
  ...{ source: 'signalbox', hostname: '', labels: null, link: null },
};

/** Writes to an incident what it takes from each alert that fires. Ends and acknowledgements do not describe the problem. */
export const noteLatest = (
  incident: StoredIncident,
  { id, record, isResolved, isAcknowledgement }: FoldedAlert,
): void => {
  incident.lastAlert = id;
  if (isResolved || isAcknowledgement) return;
  incident.firingAlert = id;
  if (toText(record['message']).trim() !== '') incident.title = toTitle(record);
  if (toText(record['source']) !== '') incident.source = toName(record['source']);
  if (toText(record['hostname']) !== '') incident.hostname = toName(record['hostname']);
  if (hasMembers(record['labels'])) incident.labels = record['labels'];
  if (typeof record['link'] === 'string') incident.link = record['link'];
};

const hasMembers = (value: unknown): value is Record<string, string> =>
  typeof value === 'object' && value !== null && Object.keys(value).length > 0;

const toTitle = (record: StoredRecord): string => {
  const { head: message } = splitOutput(toText(record['message']).replace(/^Resolved: /, ''));
  return shorten(toOneLine(message) || describeOrigin(record), longestTitle);
};

const toOneLine = (text: string): string => text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();

/** The title of an alert without a message: `backup on web-1`, or `ERROR alert on web-1` where it names no source. */
const describeOrigin = ({ source, level, hostname }: StoredRecord): string => {
  const subject = toOneLine(toText(source)) || `${toSeverity(toText(level))} alert`;
  const host = toKnownHost(toOneLine(toText(hostname)));
  return host === '' ? subject : `${subject} on ${host}`;
};

/** A message such as "backup.sh failed:" and the output of the job on the lines below it. */
const splitOutput = (message: string): { head: string; output: string } => {
  const [, head = message, output = ''] = /^([^\r\n]*\S):[ \t]*(?:\r\n|[\r\n])(.*)$/s.exec(message.trim()) ?? [];
  return { head, output: output.trim() };
};

/** The id of the incident that an alert opens: the same however often the alert is folded, with the alert's time in it. */
export const toIncidentId = ({ id, at }: FoldedAlert): string =>
  createIdOf(at, hash('sha256', `incident ${id}`, 'hex'));

const toName = (value: unknown): string => shorten(toText(value), longestName);

/** An incident as routes return it. */
export type ShowIncident = (stored: StoredIncident) => Incident;

/** Silences are those of the moment, for what is not resolved. */
export const createShowIncident =
  (silences: Pick<SilenceSource, 'silencesOf'> | undefined, clock: () => Date): ShowIncident =>
  (stored) =>
    toIncident(
      stored,
      stored.state === 'resolved'
        ? []
        : (silences?.silencesOf({ ...stored, text: stored.title }, clock().getTime()) ?? []),
    );

const toIncident = (stored: StoredIncident, silencedBy: string[]): Incident => ({
  ...toIncidentFacts(stored),
  ...{ silencedBy, task: stored.task },
  snapshot: stored.snapshot?.isKept ? toTimeText(stored.snapshot.at) : null,
});

export const toIncidentEvent = ({ at, until, change: _, ...event }: StoredEvent): IncidentEvent => ({
  ...{ by: null, level: null, alert: null, comment: null, reason: null, task: null },
  ...{ destination: null, what: null, result: null },
  ...event,
  at: toTimeText(at),
  until: toTimeOrNull(until),
});

/** The event as what a destination was told; undefined for other events. */
export const toSent = ({ id, number, title }: StoredIncident, event: StoredEvent): SentNotification | undefined => {
  const { type, at, destination, what, level, result, change } = event;
  if (type !== 'notified' && type !== 'escalated' && type !== 'reminder') return undefined;
  if (!destination || !what || !level || !result || change === undefined) return undefined;
  return { incident: { id, number, title }, at, event: type, destination, what, level, result, change };
};

/** A stored alert as the routes of its incident return it. */
export const toIncidentAlert = (record: StoredRecord): IncidentAlert => {
  const level = toText(record['level']);
  return {
    ...{ seq: record.seq, id: record.id, time: toTextOrNull(record['time']) },
    ...{ format: formatOf(record), status: toTextOrNull(record['status']) },
    ...{ level, severity: toSeverity(level), message: toText(record['message']) },
    ...{ source: toText(record['source']), hostname: toText(record['hostname']) },
    labels: hasMembers(record['labels']) ? record['labels'] : null,
    ...{ link: toTextOrNull(record['link']), details: toTextOrNull(record['details']) },
  };
};

/** The most characters of what an alert says beside its first line. */
const longestDetails = 8192;

/** The output in an alert's message, and its details; null where there are none. */
export const toIncidentDetails = (record: StoredRecord | undefined): string | null => {
  const { output } = splitOutput(toText(record?.['message']));
  const text = [output, toText(record?.['details']).trim()].filter(Boolean).join('\n\n');
  return text === '' ? null : shorten(text, longestDetails);
};
