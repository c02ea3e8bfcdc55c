import { hash } from 'node:crypto';
import { toKnownHost, toText, withoutResolvedMark } from '../../../kit/alert-record.ts';
import type { Address, NotificationKind, SharedIncident } from '../../../kit/incident.ts';
import { toPerson } from '../../../kit/people.ts';
import { rankOf, type Severity } from '../../../kit/severity.ts';
import { toDurationText } from '../../../lib/duration.ts';
import { toLocalMinute, toOffsetTimestamp } from '../../../lib/local-time.ts';
import { createIdOf, type StoredRecord } from '../../../storage/journal/line.ts';
import { toSingleLine, truncate } from './plain-text.ts';

/** Kinds of notifications, most important first. A message gets the most important kind that it contains. */
const byImportance = [
  'opened',
  'raised',
  'addressed',
  'reminder',
  'acknowledged',
  'resolved',
] as const satisfies NotificationKind[];

/** Update about an incident in a message. */
export interface IncidentUpdate {
  what: NotificationKind;
  /** Time of the event or of the due reminder, in Unix milliseconds. Identical in every attempt. */
  happenedAt: number;
  incident: SharedIncident;
  /** Address event to which the update responds. */
  address?: Address | undefined;
  /** Last alert of the incident, if still stored. The message includes its details and links. */
  alert?: StoredRecord | undefined;
}

/** Message about one or more incidents. */
export interface IncidentMessage {
  /** Id of the message. Identical in every attempt. */
  id: string;
  what: NotificationKind;
  /** Time of the latest update, RFC 3339. */
  time: string;
  /** Severity of the first and most urgent update. */
  severity: Severity;
  /** Single line. */
  title: string;
  /** Plain text, never empty. */
  body: string;
  /** URL of the incident in the console, or else the link supplied by its sender. */
  link?: string;
  /** URL that lets anyone acknowledge the incidents. */
  acknowledgeUrl?: string;
  updates: readonly IncidentUpdate[];
  /** Instance that sends the message. */
  via: string;
  /** Server id. All instances with the same database share it. */
  origin: string;
}

interface MessageParts {
  /** Value of the setting `publicUrl`. */
  publicUrl: string | undefined;
  /** Returns the URL for acknowledging the incidents with these ids. Undefined if there is none. */
  toAcknowledgeUrl(ids: readonly string[]): string | undefined;
  /** Id of this instance. */
  instance: string;
  /** Server id. All instances with the same database share it. Default: the id of this instance. */
  origin?: string;
}

/** Maximum number of incidents that a message describes. Further incidents are only counted. */
const mostDescribed = 10;

/** Maximum size in bytes of a title. */
const longestTitle = 250;

/** Creates the message for one or more updates. Each incident appears only once. */
export const createIncidentMessage = (
  updates: readonly IncidentUpdate[],
  { publicUrl, toAcknowledgeUrl, instance, origin = instance }: MessageParts,
): IncidentMessage => {
  const sorted = updates.toSorted(byUrgency);
  const [first] = sorted;
  if (!first) throw new Error('a message needs at least one update');
  const at = Math.max(...sorted.map((each) => each.happenedAt));
  const isSingle = sorted.length === 1;
  const link = isSingle ? (toConsoleLink(publicUrl, first.incident) ?? first.incident.link) : toConsoleLink(publicUrl);
  const unacknowledged = sorted.filter(({ incident }) => incident.state === 'open').map(({ incident }) => incident.id);
  const acknowledgeUrl = unacknowledged.length > 0 ? toAcknowledgeUrl(unacknowledged) : undefined;
  return {
    id: toMessageId(sorted, at),
    what: byImportance.find((what) => sorted.some((each) => each.what === what)) ?? first.what,
    time: toOffsetTimestamp(new Date(at)),
    severity: first.incident.level,
    title: truncate(toSingleLine(isSingle ? toTitle(first) : toGroupTitle(sorted)), longestTitle),
    body: isSingle ? toIncidentBody(first, publicUrl) : toGroupBody(sorted),
    ...(link && { link }),
    ...(acknowledgeUrl !== undefined && { acknowledgeUrl }),
    updates: sorted,
    via: instance,
    origin,
  };
};

/** Compares updates for sorting by severity, with resolutions last. */
const byUrgency = (one: IncidentUpdate, other: IncidentUpdate): number =>
  Number(one.what === 'resolved') - Number(other.what === 'resolved') ||
  rankOf(one.incident.level) - rankOf(other.incident.level) ||
  byImportance.indexOf(one.what) - byImportance.indexOf(other.what) ||
  one.incident.number - other.incident.number;

const toMessageId = (updates: readonly IncidentUpdate[], at: number): string => {
  const parts = updates.map(({ what, happenedAt: time, incident: { id, openings, level } }) => [
    ...[id, what, time, openings],
    ...(what === 'raised' ? [level] : []),
  ]);
  return createIdOf(at, hash('sha256', `message ${JSON.stringify(parts)}`, 'hex'));
};

/** Returns the console URL of the incident, or of the incident list. Undefined without `publicUrl`. */
export const toConsoleLink = (
  publicUrl: string | undefined,
  incident?: Pick<SharedIncident, 'number'>,
): string | undefined => {
  if (publicUrl === undefined) return undefined;
  return `${publicUrl.replace(/\/+$/, '')}/console/#/incidents${incident ? `/${incident.number}` : ''}`;
};

const toTitle = ({ what, happenedAt, incident, address }: IncidentUpdate): string => {
  const { number, level, acknowledged, stateSince, openings } = incident;
  const name = toName(incident);
  switch (what) {
    case 'opened':
      return `${openings > 1 ? 'Reopened: ' : ''}${level} #${number} ${name}`;
    case 'raised':
      return `Raised to ${level}: #${number} ${name}`;
    case 'reminder':
      return `Still open for ${toDurationText(happenedAt - stateSince)}: ${level} #${number} ${name}`;
    case 'addressed':
      return `${toRequest(address)}: ${level} #${number} ${name}`;
    case 'acknowledged':
      return `Acknowledged by ${acknowledged ? toPerson(acknowledged.by) : 'somebody'}: #${number} ${name}`;
    case 'resolved':
      return `Resolved #${number}: ${name}`;
  }
};

/** Describes a request for help: `ben asks you to help`. */
const toRequest = (
  { by, reason }: Pick<Address, 'by' | 'reason'> = { by: 'somebody', reason: 'responder' },
): string => {
  const verbs = { takeOver: 'has taken over', mention: 'mentions you', responder: 'asks you to help', step: 'asks' };
  return `${toPerson(by)} ${verbs[reason]}`;
};

/** Formats the name of an incident: `disk full on db-1`. */
const toName = ({ title, hostname }: SharedIncident): string => {
  const host = toKnownHost(hostname);
  return title.includes(host) ? title : `${title} on ${host}`;
};

const verbs: Partial<Record<NotificationKind, string>> = {
  reminder: 'still open',
  acknowledged: 'acknowledged',
  resolved: 'resolved',
};

/**
 * Formats the title of a message about several incidents: `3 incidents on db-1: disk full, no backup, load is high`.
 */
const toGroupTitle = (updates: readonly IncidentUpdate[]): string => {
  const kinds = [...new Set(updates.map(({ what }) => verbs[what]))];
  const [verb] = kinds.length === 1 ? kinds : [];
  const hosts = [...new Set(updates.map(({ incident }) => toKnownHost(incident.hostname)))];
  const [host = ''] = hosts.length === 1 ? hosts : [];
  const titles = [...new Set(updates.map(({ incident }) => incident.title))];
  const subject = `${updates.length} incidents${verb === undefined ? '' : ` ${verb}`}`;
  return `${subject}${host === '' ? '' : ` on ${host}`}: ${titles.join(', ')}`;
};

const toIncidentBody = ({ incident, alert, what }: IncidentUpdate, publicUrl: string | undefined): string => {
  const details = toText(alert?.['details']);
  const message = withoutResolvedMark(toText(alert?.['message']));
  const links = [
    ...Object.entries(Object(alert?.['links'])).filter((entry): entry is [string, string] => toText(entry[1]) !== ''),
    // The message itself already links to the console.
    ...(publicUrl !== undefined && incident.link !== null ? [['Source', incident.link] as const] : []),
  ];
  const parts = [
    // The title is a single truncated line. The message may be longer.
    ...(message.trim() === incident.title ? [] : [message.trim()]),
    [toFacts(incident), toOwner(incident), ...(what === 'resolved' ? [toResolution(incident)] : [])]
      .filter((line) => line !== '')
      .join('\n'),
    details,
    links.map(([name, url]) => `${name}: ${url}`).join('\n'),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
};

/** Formats the facts about an incident: `CRITICAL · db-1 · backup · 3 alerts since 2026-01-31 09:30 +01:00`. */
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
  if (state === 'open') return 'Not acknowledged.';
  if (!acknowledged) return '';
  const { by, until, comment } = acknowledged;
  const end = until === null || state === 'resolved' ? '' : ` until ${toLocalMinute(until)}`;
  return `Acknowledged by ${toPerson(by)}${end}${comment === null ? '' : `: ${comment}`}`;
};

const toResolution = ({ firstAt, stateSince, resolved }: SharedIncident): string => {
  const lasted = `after ${toDurationText(stateSince - firstAt)}`;
  if (resolved?.reason === 'quiet') return `Resolved ${lasted}, because no more alerts were received`;
  return `Resolved ${lasted}${resolved?.by ? ` by ${toPerson(resolved.by)}` : ''}`;
};

/** Returns one line per incident. */
const toGroupBody = (updates: readonly IncidentUpdate[]): string => {
  const lines = updates.slice(0, mostDescribed).map((each) => {
    const { incident } = each;
    const facts = [incident.source, `${incident.count} ${incident.count === 1 ? 'alert' : 'alerts'}`];
    return `${toSingleLine(toTitle(each))} (${facts.filter((fact) => fact !== '').join(' · ')})`;
  });
  const left = updates.length - lines.length;
  return [...lines, ...(left > 0 ? [`… and ${left} more`] : [])].join('\n');
};
