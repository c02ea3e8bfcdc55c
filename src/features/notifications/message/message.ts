import { hash } from 'node:crypto';
import { toKnownHost, toText, withoutResolvedMark } from '../../../kit/alert-record.ts';
import type { NotificationKind, SharedIncident } from '../../../kit/incident-source.ts';
import { toPerson } from '../../../kit/people.ts';
import { rankOf, type Severity } from '../../../kit/severity.ts';
import { toLocalMinute, toOffsetTimestamp } from '../../../lib/local-time.ts';
import { createIdOf, type StoredRecord } from '../../../storage/journal/line.ts';
import { toSingleLine, truncate } from './text.ts';

/** Of several kinds in one message, the first of these stands for all. */
const byImportance = ['opened', 'raised', 'reminder', 'acknowledged', 'resolved'] as const satisfies NotificationKind[];

/** What happened to an incident. */
export interface IncidentHappening {
  what: NotificationKind;
  /** When, in Unix milliseconds; of a reminder, when it was due. It is the same for each attempt to tell it. */
  happenedAt: number;
  incident: SharedIncident;
  /** The incident's last alert, if it is still stored: its details and links are told. */
  alert?: StoredRecord | undefined;
}

/** A message about one or several incidents, as destinations send it. */
export interface IncidentMessage {
  /** The same for each attempt to send it. */
  id: string;
  what: NotificationKind;
  /** When the last of it happened, RFC 3339. */
  time: string;
  /** Of the worst of them. */
  severity: Severity;
  /** One line. */
  title: string;
  /** Plain text, never empty. */
  body: string;
  /** The incident in the console, or where its sender shows it. */
  link?: string;
  /** Whoever has it can acknowledge the incidents. */
  acknowledgeUrl?: string;
  happenings: readonly IncidentHappening[];
  /** The instance that sends it. */
  via: string;
  /** The server that sends it: the same for all instances that share a database. */
  origin: string;
}

interface MessageParts {
  /** The setting: where people reach this server. */
  publicUrl: string | undefined;
  /** The URL with which the receiver can acknowledge the incidents with these ids; undefined if there is none. */
  toAcknowledgeUrl(ids: readonly string[]): string | undefined;
  /** The name of this data directory. */
  instance: string;
  /** The same for all instances that share a database; the instance by default. */
  origin?: string;
}

/** The most incidents that a message describes; of others it says how many there are. */
const mostDescribed = 10;

/** The most bytes of a title. */
const longestTitle = 250;

/** The message that says what happened: at least one thing, and each incident once. */
export const createIncidentMessage = (
  happenings: readonly IncidentHappening[],
  { publicUrl, toAcknowledgeUrl, instance, origin = instance }: MessageParts,
): IncidentMessage => {
  const sorted = happenings.toSorted(byUrgency);
  const [first] = sorted;
  if (!first) throw new Error('a message needs something that happened');
  const at = Math.max(...sorted.map((each) => each.happenedAt));
  const isSingle = sorted.length === 1;
  const link = isSingle ? (toConsoleLink(publicUrl, first.incident) ?? first.incident.link) : toConsoleLink(publicUrl);
  const unowned = sorted.filter(({ incident }) => incident.state === 'open').map(({ incident }) => incident.id);
  const acknowledgeUrl = unowned.length > 0 ? toAcknowledgeUrl(unowned) : undefined;
  return {
    id: toMessageId(sorted, at),
    what: byImportance.find((what) => sorted.some((each) => each.what === what)) ?? first.what,
    time: toOffsetTimestamp(new Date(at)),
    severity: first.incident.level,
    title: truncate(toSingleLine(isSingle ? toTitle(first) : toGroupTitle(sorted)), longestTitle),
    body: isSingle ? toIncidentBody(first, publicUrl) : toGroupBody(sorted),
    ...(link && { link }),
    ...(acknowledgeUrl !== undefined && { acknowledgeUrl }),
    happenings: sorted,
    via: instance,
    origin,
  };
};

/** What asks for somebody first: news that are no end, the worst first. */
const byUrgency = (one: IncidentHappening, other: IncidentHappening): number =>
  Number(one.what === 'resolved') - Number(other.what === 'resolved') ||
  rankOf(one.incident.level) - rankOf(other.incident.level) ||
  byImportance.indexOf(one.what) - byImportance.indexOf(other.what) ||
  one.incident.number - other.incident.number;

const toMessageId = (happenings: readonly IncidentHappening[], at: number): string => {
  const parts = happenings.map(({ what, happenedAt: time, incident: { id, openings, level } }) => [
    ...[id, what, time, openings],
    ...(what === 'raised' ? [level] : []),
  ]);
  return createIdOf(at, hash('sha256', `message ${JSON.stringify(parts)}`, 'hex'));
};

/** Where the console shows an incident, or all; undefined without a `publicUrl`. */
export const toConsoleLink = (
  publicUrl: string | undefined,
  incident?: Pick<SharedIncident, 'number'>,
): string | undefined => {
  if (publicUrl === undefined) return undefined;
  return `${publicUrl.replace(/\/+$/, '')}/console/#/incidents${incident ? `/${incident.number}` : ''}`;
};

const toTitle = ({ what, happenedAt, incident }: IncidentHappening): string => {
  const { number, level, acknowledged, stateSince, openings } = incident;
  const name = toName(incident);
  switch (what) {
    case 'opened':
      return `${openings > 1 ? 'Open again: ' : ''}${level} #${number} ${name}`;
    case 'raised':
      return `Raised to ${level}: #${number} ${name}`;
    case 'reminder':
      return `Still open for ${toDurationText(happenedAt - stateSince)}: ${level} #${number} ${name}`;
    case 'acknowledged':
      return `Acknowledged by ${acknowledged ? toPerson(acknowledged.by) : 'somebody'}: #${number} ${name}`;
    case 'resolved':
      return `Resolved #${number}: ${name}`;
  }
};

/** `disk full on db-1`. */
const toName = ({ title, hostname }: SharedIncident): string => {
  const host = toKnownHost(hostname);
  return title.includes(host) ? title : `${title} on ${host}`;
};

const verbs: Partial<Record<NotificationKind, string>> = {
  reminder: 'still open',
  acknowledged: 'acknowledged',
  resolved: 'resolved',
};

/** `3 incidents on db-1: disk full, no backup, load is high`. */
const toGroupTitle = (happenings: readonly IncidentHappening[]): string => {
  const kinds = [...new Set(happenings.map(({ what }) => verbs[what]))];
  const [verb] = kinds.length === 1 ? kinds : [];
  const hosts = [...new Set(happenings.map(({ incident }) => toKnownHost(incident.hostname)))];
  const [host = ''] = hosts.length === 1 ? hosts : [];
  const titles = [...new Set(happenings.map(({ incident }) => incident.title))];
  const subject = `${happenings.length} incidents${verb === undefined ? '' : ` ${verb}`}`;
  return `${subject}${host === '' ? '' : ` on ${host}`}: ${titles.join(', ')}`;
};

const toIncidentBody = ({ incident, alert, what }: IncidentHappening, publicUrl: string | undefined): string => {
  const details = toText(alert?.['details']);
  const message = withoutResolvedMark(toText(alert?.['message']));
  const links = [
    ...Object.entries(Object(alert?.['links'])).filter((entry): entry is [string, string] => toText(entry[1]) !== ''),
    // The console is where the message itself links to.
    ...(publicUrl !== undefined && incident.link !== null ? [['Source', incident.link] as const] : []),
  ];
  const parts = [
    // A title is one line, and cut; the alert may say more.
    ...(message.trim() === incident.title ? [] : [message.trim()]),
    [toFacts(incident), toOwner(incident), ...(what === 'resolved' ? [toEnd(incident)] : [])]
      .filter((line) => line !== '')
      .join('\n'),
    details,
    links.map(([name, url]) => `${name}: ${url}`).join('\n'),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
};

/** `CRITICAL · db-1 · backup · 3 alerts since 2026-01-31 09:30 +01:00`. */
const toFacts = ({ level, hostname, source, count, firstAt }: SharedIncident): string =>
  toSingleLine(
    [
      level,
      toKnownHost(hostname),
      source,
      `${count} ${count === 1 ? 'alert' : 'alerts'} since ${toLocalMinute(firstAt)}`,
    ]
      .filter((part) => part !== '')
      .join(' · '),
  );

const toOwner = ({ state, acknowledged }: SharedIncident): string => {
  if (state === 'open') return 'Nobody has taken it.';
  if (!acknowledged) return '';
  const { by, until, comment } = acknowledged;
  const end = until === null || state === 'resolved' ? '' : ` until ${toLocalMinute(until)}`;
  return `Acknowledged by ${toPerson(by)}${end}${comment === null ? '' : `: ${comment}`}`;
};

const toEnd = ({ firstAt, stateSince, resolved }: SharedIncident): string => {
  const lasted = `after ${toDurationText(stateSince - firstAt)}`;
  if (resolved?.reason === 'quiet') return `Resolved ${lasted}, because no more alerts came`;
  return `Resolved ${lasted}${resolved?.by ? ` by ${toPerson(resolved.by)}` : ''}`;
};

/** One line for each incident. */
const toGroupBody = (happenings: readonly IncidentHappening[]): string => {
  const lines = happenings.slice(0, mostDescribed).map((each) => {
    const { incident } = each;
    const facts = [incident.source, `${incident.count} ${incident.count === 1 ? 'alert' : 'alerts'}`];
    return `${toSingleLine(toTitle(each))} (${facts.filter((fact) => fact !== '').join(' · ')})`;
  });
  const left = happenings.length - lines.length;
  return [...lines, ...(left > 0 ? [`… and ${left} more`] : [])].join('\n');
};

/** `2 h 5 min`, rounded to minutes, beyond a day to hours. */
export const toDurationText = (ms: number): string => {
  const minutes = Math.round(Math.max(0, ms) / 60_000);
  if (minutes === 0) return `${Math.max(1, Math.round(ms / 1000))} s`;
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24];
  const parts = [
    ...(days > 0 ? [`${days} d`] : []),
    ...(hours > 0 ? [`${hours} h`] : []),
    ...(days === 0 && minutes % 60 > 0 ? [`${minutes % 60} min`] : []),
  ];
  return parts.join(' ');
};
