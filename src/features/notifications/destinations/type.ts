import { hash } from 'node:crypto';
import type { LookupFunction } from 'node:net';
import Type, { type Static } from 'typebox';
import {
  formatOf,
  isAboutSomething,
  toText as readText,
  readTime,
  readVia,
  toKnownHost,
} from '../../../kit/alert-record.ts';
import { type Severity, toSeverity } from '../../../kit/severity.ts';
import { makeWellFormed } from '../../../lib/well-formed.ts';
import type { StoredRecord } from '../../../storage/journal/line.ts';
import type { IncidentMessage } from '../message/message.ts';
import { toSingleLine } from '../message/single-line.ts';
import { truncate } from '../message/truncate.ts';
import type { DeliveryOutcome } from '../queue/outcome.ts';

/** A kind of receiver. */
export interface DestinationType {
  /** As `type` in the config file. */
  name: string;
  /** Whether a destination has a secret. */
  secret: 'none' | 'optional' | 'required';
  /** The header that is the secret, in lower case; undefined if no header is. */
  secretHeader?: string;
  /** Its secret may be any text, since it is sent in no header. */
  takesAnySecret?: boolean;
  /** Its receiver knows an alert by its labels, so that an end has to have those of the alert that it ends. */
  knowsByLabels?: boolean;
  /** How many secrets it can use at a time; one unless stated. */
  secrets?: number;
  /** Why a secret cannot be used, as a clause that does not show it. */
  findSecretProblem?(secret: string): string | undefined;
  /** The schemes of its URL; `http` and `https` unless stated. */
  schemes?: readonly string[];
  /** The settings that it has beside those of all types. */
  ownSettings?: readonly (keyof OwnSettings)[];
  /** Headers that its settings may name although they belong to the body. */
  ownHeaders?: readonly string[];
  /** Why its settings cannot be used, as a clause that shows no secret. */
  findProblem?(receiver: ReceiverAddress): string | undefined;
  /** Seconds that a request may take, where its settings do not say; 15 unless stated. */
  timeoutSeconds?: number;
  /** The request that delivers it at `now`; of types that speak HTTP. */
  toRequest?(outgoing: Outgoing, receiver: ReceiverAddress, now: Date): DeliveryRequest;
  /** The headers of the settings, where they are another text each time. */
  toHeaders?(outgoing: Outgoing, receiver: ReceiverAddress): Readonly<Record<string, string>>;
  /** Of other types: what sends to the receiver within so many seconds; to where `lookup` leads, if it is given. */
  createSender?(receiver: ReceiverAddress, seconds: number, lookup?: LookupFunction): Promise<OutgoingSender>;
}

/** Settings that only some types have. */
export const ownSettings = {
  method: Type.Optional(
    Type.Enum(['POST', 'PUT', 'PATCH', 'GET'], {
      type: 'string',
      description: '`template`: the method; POST by default.',
    }),
  ),
  body: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64 * 1024,
      examples: ['{"text": "{message}"}'],
      description: '`template`: the body, with placeholders.',
    }),
  ),
  from: Type.Optional(
    Type.String({
      minLength: 1,
      examples: ['signalbox@example.org'],
      description: '`email`: the sender, `signalbox@example.org`.',
    }),
  ),
  to: Type.Optional(
    Type.Array(Type.String({ minLength: 1, examples: ['anna@example.org'] }), {
      minItems: 1,
      maxItems: 50,
      description: '`email`: the recipients.',
    }),
  ),
  user: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      examples: ['signalbox'],
      description: '`email`: logs in with the secret as password.',
    }),
  ),
  tls: Type.Optional(
    Type.Enum(['required', 'none'], {
      type: 'string',
      description: '`email`: whether `smtp://` must use STARTTLS; by default, except on loopback.',
    }),
  ),
};
type OwnSettings = Static<ReturnType<typeof Type.Object<typeof ownSettings>>>;

/** Where a destination sends. */
export interface ReceiverAddress {
  url: URL;
  /** Those of its type. */
  settings: OwnSettings & { headers?: Readonly<Record<string, unknown>> };
  /** The headers of the settings, by name in lower case. */
  headers: Readonly<Record<string, string>>;
  /** The current secret first, then the previous one; empty if there is none. */
  secrets: readonly string[];
  /** The option `ca` of a TLS client, if CAs are trusted in addition. */
  trust: { ca?: string[] };
}

/** What became of an attempt, and what the receiver said, or why it did not. */
export interface SendResult {
  outcome: DeliveryOutcome;
  reply: string;
}

export interface OutgoingSender {
  /** Never rejects. */
  send(outgoing: Outgoing, now: Date): Promise<SendResult>;
  /** Breaks off what is being sent. */
  close(): Promise<void>;
}

/** A request of a destination. */
export interface DeliveryRequest {
  /** POST unless stated. */
  method?: 'POST' | 'PUT' | 'PATCH' | 'GET';
  /** Where it goes on the destination's server: path and query. */
  path: string;
  headers: Record<string, string>;
  body: string;
}

/** What destinations send: an alert, or a message about incidents, with what receivers of each kind show of both. */
export type Outgoing = {
  /** The same for each attempt to send it. */
  id: string;
  /** RFC 3339. */
  time: string;
  urgency: Urgency;
  /** One line. */
  title: string;
  /** What is below the title; never empty. */
  text: string;
  link?: string;
  /** Where the receiver can acknowledge the incidents. */
  acknowledgeUrl?: string;
  /** The instances that have sent it, this one last. */
  via: string;
} & ({ alert: DeliveredAlert; message?: undefined } | { alert?: undefined; message: IncidentMessage });

/** An alert as destinations send it. It depends on the record alone, so a repeated delivery has the same body. */
export interface DeliveredAlert {
  /** The record's id. */
  id: string;
  /** Time of receipt, RFC 3339. */
  time: string;
  source: string;
  level: string;
  severity: Severity;
  message: string;
  hostname: string;
  /** The intake format; `native` for `POST /api/alert`. */
  format: string;
  status?: 'firing' | 'resolved';
  fingerprint?: string;
  /** RFC 3339. */
  startsAt?: string;
  endsAt?: string;
  link?: string;
  /** More than the message says, and further links by their names. */
  details?: string;
  links?: Record<string, string>;
  /** What the alert is about, for another signalbox: no other alert of this server, and none of another, has the same. */
  key?: string;
  /** Of a resolved alert: the level of the one that it ends. */
  firingLevel?: string;
  /** The id of the alert that this one resolves. */
  resolves?: string;
  /** That alert, for types that need it. */
  ended?: Pick<DeliveredAlert, 'source' | 'hostname' | 'labels'>;
  /** The id of the first alert that this one repeats. */
  repeatOf?: string;
  labels?: Record<string, string>;
  /** The instances that have delivered it, this one last. */
  via: string;
  /** The server that sends it: the same for all instances that share a database. */
  origin?: string;
}

const optionalTexts = [
  ...(['fingerprint', 'startsAt', 'endsAt', 'link', 'details', 'firingLevel', 'resolves', 'repeatOf'] as const),
] as const;

/** The alert of a record, delivered by `instance`. */
export const toDelivered = (record: StoredRecord, instance: string, origin = instance): DeliveredAlert => {
  const { id, status, labels, links } = record;
  const alert: Omit<DeliveredAlert, 'via'> & { via?: string } = {
    id,
    time: toTime(record),
    source: readText(record['source']),
    level: readText(record['level']),
    severity: toSeverity(readText(record['level'])),
    message: readText(record['message']),
    hostname: readText(record['hostname']),
    format: formatOf(record),
  };
  if (status === 'firing' || status === 'resolved') alert.status = status;
  for (const name of optionalTexts) {
    const text = readText(record[name]);
    if (text !== '') alert[name] = text;
  }
  if (labels !== undefined) alert.labels = toTexts(labels);
  if (links !== undefined) alert.links = toTexts(links);
  if (isAboutSomething(record)) alert.key = toForwardedKey(record, origin);
  return Object.assign(alert, { via: [...readVia(record['via']), instance].join(', '), origin });
};

/** Senders without a credential count as one, as they do for incidents. */
const toForwardedKey = ({ sender, format, fingerprint }: StoredRecord, origin: string): string => {
  const group = readText(sender).startsWith('address:') ? '' : readText(sender);
  const mark = hash('sha256', JSON.stringify([origin, group, format ?? '']), 'hex').slice(0, 8);
  return `${readText(fingerprint)}@${mark}`;
};

const toTime = (record: StoredRecord): string => {
  const time = readText(record['time']);
  return /^\d{4}-\d\d-\d\dT/.test(time) ? time : new Date(readTime(record) ?? 0).toISOString();
};

const toTexts = (texts: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(Object(texts)).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );

/** Path and query of the URL as it is configured. */
export const toPath = ({ pathname, search }: URL): string => `${pathname}${search}`;

/** The path with `end` appended, unless it ends so already. */
export const toPathWith = ({ pathname, search }: URL, end: string): string => {
  const base = pathname.replace(/\/+$/, '');
  return `${base.endsWith(end) ? base : `${base}${end}`}${search}`;
};

export const jsonType = { 'content-type': 'application/json' };

/** The header of receivers, or proxies before them, that take a token. */
export const toBearer = ([secret]: readonly string[]): Record<string, string> =>
  secret === undefined ? {} : { authorization: `Bearer ${secret}` };

/** One line of text; where it is not printable ASCII, as RFC 2047 has it, which ntfy and others decode. */
export const toHeader = (text: string): string => {
  const line = toSingleLine(text);
  return /^[\x20-\x7e]*$/.test(line) ? line : `=?UTF-8?B?${Buffer.from(line).toString('base64')}?=`;
};

/** How urgent receivers show an alert. */
export type Urgency = 'critical' | 'error' | 'warning' | 'info' | 'resolved';

const urgencies: Record<Severity, Urgency> = { CRITICAL: 'critical', ERROR: 'error', WARNING: 'warning', INFO: 'info' };

/** Logs of versions before 1.2 have texts with half a surrogate pair, which no URL and few receivers can have. */
export const toOutgoing = (content: DeliveredAlert | IncidentMessage): Outgoing => {
  const sendable = makeWellFormed(content);
  return 'happenings' in sendable ? toMessageOutgoing(sendable) : toAlertOutgoing(sendable);
};

const toMessageOutgoing = (message: IncidentMessage): Outgoing => {
  const { id, time, what, severity, title, body, link, acknowledgeUrl, via } = message;
  return {
    id,
    time,
    title,
    text: body,
    via,
    message,
    urgency: toMessageUrgency(what, severity),
    ...(link !== undefined && { link }),
    ...(acknowledgeUrl !== undefined && { acknowledgeUrl }),
  };
};

const toMessageUrgency = (what: IncidentMessage['what'], severity: Severity): Urgency => {
  if (what === 'resolved') return 'resolved';
  return what === 'acknowledged' ? 'info' : urgencies[severity];
};

const toAlertOutgoing = (alert: DeliveredAlert): Outgoing => {
  const { id, time, severity, status, link, via } = alert;
  const title = toTitle(alert);
  return {
    id,
    time,
    title,
    text: toAlertText(alert, title),
    via,
    alert,
    urgency: status === 'resolved' ? 'resolved' : urgencies[severity],
    ...(link !== undefined && { link }),
  };
};

/** One line about the alert: `ERROR backup on web-1`, or `ERROR disk is full on web-1` where it names no source. */
const toTitle = ({ level, source, message, hostname }: DeliveredAlert): string => {
  const [line = ''] = message.trim().split(/[\r\n]/, 1);
  const name = toSingleLine(source).trim();
  const subject = name || toSingleLine(line).trim() || (level === '' ? 'Alert' : 'alert');
  const host = toKnownHost(hostname);
  const place = name === '' && subject.includes(host) ? '' : `on ${host}`;
  return truncate(toSingleLine([level, subject, host && place].filter((part) => part !== '').join(' ')), 250);
};

/** Message, details and links. */
const toAlertText = ({ message, details = '', links = {} }: DeliveredAlert, title: string): string => {
  const named = Object.entries(links).map(([name, url]) => `${name}: ${url}`);
  return [message || title, details, named.join('\n')].filter((part) => part !== '').join('\n\n');
};

/** Chat programs notify everybody in a channel for these words in any text; a character without a width keeps them from it. */
export const breakMentions = (text: string): string =>
  text.replaceAll(/@(?=(?:all|channel|everyone|here)\b)/gi, '@\u200b');

/** What receivers show below the title, with what they cannot show as a button of its own. */
export const toBody = ({ text, acknowledgeUrl }: Outgoing, maxBytes: number): string => {
  const end = acknowledgeUrl === undefined ? '' : `\n\nAcknowledge: ${acknowledgeUrl}`;
  return `${truncate(text, maxBytes - end.length)}${end}`;
};
