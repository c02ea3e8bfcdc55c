import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Static, TSchema } from 'typebox';
import Type from 'typebox';
import { unknownHost } from '../../../kit/alert-record.ts';
import { defineShape } from '../../../kit/route.ts';
import { findSeverity, type Severity } from '../../../kit/severity.ts';
import { isCalendarDay } from '../../../lib/time-zone.ts';
import { cutText } from '../../../lib/well-formed.ts';

/** A request to an intake path. */
export interface Incoming {
  /** The body; empty if there is none. */
  bytes: Buffer;
  headers: IncomingHttpHeaders;
  /** Media type as the client sent it, in lower case and without parameters; undefined if it sent none. */
  contentType: string | undefined;
  /** Parses JSON in UTF-8; throws an HttpError. */
  parseJson(bytes: Buffer): unknown;
}

/** An alert as its sender describes it. Texts are cleaned and cut when its record is made. */
export interface ForeignAlert {
  source: string;
  /** INFO is stored instead if the alert is resolved. */
  level: Severity;
  message: string;
  hostname: string;
  status: 'firing' | 'resolved';
  /** Acknowledges the incident of its fingerprint, and says nothing new about the problem. */
  acknowledges?: boolean;
  /** The sender's own id of what the alert is about; without one the alert is never a repeat. */
  fingerprint?: string | undefined;
  /** What this event says about the fingerprint, if that is not `status`. */
  state?: string | undefined;
  /** RFC 3339 in UTC. */
  startsAt?: string | undefined;
  endsAt?: string | undefined;
  labels?: Record<string, string> | undefined;
  link?: string | undefined;
  /** What else it says; may have several lines. */
  details?: string | undefined;
  /** By what they lead to: `runbook`, `dashboard`, `panel`, `silence` and the like. */
  links?: Record<string, string> | undefined;
  /** The signalbox instances that delivered the alert before. */
  via?: string | undefined;
}

/** One kind of sender: its body, the alerts in it, and what is special about its requests. */
export interface Format<S extends TSchema = TSchema> {
  /** The path is `/api/alert/NAME`. */
  name: string;
  /** One line for people. */
  summary: string;
  /** The body as JSON. Members that are null count as absent. */
  schema: S;
  /** Whether a JSON value has the marks that only this format has. */
  recognizes(value: unknown): boolean;
  /** Makes a JSON value of a body that is something else; undefined if the body is JSON. */
  decode?(incoming: Incoming): unknown;
  /** Media types that `decode` reads, for the OpenAPI document. */
  mediaTypes?: readonly string[];
  /** The alerts in a body that fits the schema; throws an HttpError if it says nothing. */
  readAlerts(body: Static<S>, now: Date): Iterable<ForeignAlert>;
  /** Headers with the HMAC of the body and, optionally, the time that is part of it; both in lower case. */
  signature?: { header: string; timestampHeader: string };
  /** The answer that the sender's own libraries expect, if it is not the usual one. */
  answer?: { status: number; schema: TSchema; create(stored: StoredBody): object };
  /** The media type of requests whose responses are not JSON, and how these are written. */
  binary?: { mediaType: string; write(answer: object): Buffer; writeError(message: string): Buffer };
}

/** A body whose alerts are stored. */
interface StoredBody {
  ids: string[];
  /** Fingerprints of the alerts in their order; an alert without one has an empty text. */
  fingerprints: string[];
  /** Alerts that the path leaves out because their level is too low. */
  leftOut: number;
}

/** Types `readAlerts` from the schema. */
export const defineFormat = <const S extends TSchema>(format: Format<S>): Format => format as unknown as Format;

/** The media type of forms. Routers and storage boxes can often send nothing else, and curl sends it by default. */
export const formType = 'application/x-www-form-urlencoded';

/** The end of the path of plain texts. */
export const plainTextName = 'plain-text';

export const IntakeReceipt = defineShape('IntakeReceipt', {
  received: Type.Literal(true),
  ids: Type.Array(Type.String({ format: 'uuid', examples: ['019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c55'] }), {
    description: "The id of each alert, in the body's order.",
  }),
  repeated: Type.Integer({
    examples: [0],
    description: 'How many of them had been stored before; their ids are those of the first.',
  }),
});

/** The first text that is not empty, or an empty one. */
export const firstText = (...values: unknown[]): string =>
  values.find((value): value is string => typeof value === 'string' && value.trim() !== '') ?? '';

/** `alertmanager` and the first text that is not empty: `alertmanager/HostDown`. */
export const toSource = (prefix: string, ...values: unknown[]): string => {
  const name = firstText(...values);
  return name === '' ? prefix : `${prefix}/${name}`;
};

/** The severity that the first known name among the values stands for; it becomes the level of a foreign alert. */
export const findFirstSeverity = (...values: unknown[]): Severity | undefined => {
  for (const value of values) {
    const severity = typeof value === 'string' ? findSeverity(value) : undefined;
    if (severity) return severity;
  }
  return undefined;
};

/** The severity of OpenTelemetry's numbers from 1 to 24, four each of trace, debug, info, warn, error and fatal. */
export const findNumberedSeverity = (value: unknown): Severity | undefined => {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 1 || number > 24) return undefined;
  const levels: readonly Severity[] = ['INFO', 'INFO', 'INFO', 'WARNING', 'ERROR', 'CRITICAL'];
  return levels[Math.floor((number - 1) / 4)];
};

/** Labels or other fields that name a level, the most telling first. */
export const listSeverityNames = (fields: Record<string, unknown>): unknown[] => [
  fields['severity'],
  fields['level'],
  fields['priority'],
];

/** Labels or other fields that name a host, the most telling first. */
export const listHostFields = (fields: Record<string, unknown>): unknown[] => [
  ...[fields['hostname'], fields['host'], fields['node'], fields['nodename'], fields['instance']],
];

/** The host in the first value that has one: `web-1` of `web-1:9100`, `::1` of `[::1]:9100` and `http://[::1]:9100/x`. */
export const toHostname = (...values: unknown[]): string => {
  for (const value of values) {
    const host = typeof value === 'string' ? readHost(value.trim()) : '';
    if (host !== '') return host;
  }
  return unknownHost;
};

const readHost = (text: string): string => {
  const authority = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? (tryUrl(text)?.host ?? '') : text;
  return /^\[(.+)\](?::\d*)?$/.exec(authority)?.[1] ?? /^([^:]*):\d*$/.exec(authority)?.[1] ?? authority;
};

const tryUrl = (text: string): URL | undefined => (URL.canParse(text) ? new URL(text) : undefined);

const time = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d(?:\.\d+)?)([Zz]|[+-]\d\d:?\d\d)?$/;

/** A time as RFC 3339 in UTC; one without an offset is UTC. Undefined for the years 0 and 1, and what is no time. */
export const toRfc3339 = (value: unknown): string | undefined => {
  const parts = typeof value === 'string' ? time.exec(value) : null;
  if (!parts) return undefined;
  const [, day = '', clock, offset = 'Z'] = parts;
  if (!isCalendarDay(day)) return undefined;
  return formatTime(new Date(`${day}T${clock}${offset.toUpperCase()}`));
};

const yearTwo = Date.parse('0002-01-01T00:00:00Z');
const yearTenThousand = Date.parse('+010000-01-01T00:00:00Z');

/** RFC 3339 in UTC; undefined for an invalid date and outside the years 2 to 9999. */
export const formatTime = (date: Date): string | undefined =>
  date.getTime() >= yearTwo && date.getTime() < yearTenThousand ? date.toISOString() : undefined;

const mark = '…';

/** Most texts have none of this. */
const unclean = /[\p{Cc}\p{Cs}\u2028\u2029]|^\s|\s$/u;

/** Text of at most `limit` characters without control characters; one that was cut ends in `…`. White space becomes one space. */
export const clean = (text: string, limit: number): string => {
  if (text.length <= limit && !unclean.test(text)) return text;
  // Twice the limit is enough to fill it, unless control characters make up most of the text.
  const shown = text
    .slice(0, limit * 4)
    .replaceAll(/[\t\n\v\f\r\u0085\u2028\u2029]+/g, ' ')
    .replaceAll(/\p{Cc}/gu, '')
    .replaceAll(/\p{Cs}/gu, '\ufffd')
    .trim();
  return cut(shown, limit, text.length > limit * 4);
};

/** The first of the texts that says something else than the message does. */
export const findDetails = (message: string, ...values: unknown[]): string | undefined =>
  values.find((value): value is string => typeof value === 'string' && value.trim() !== '' && value !== message);

/** Text of several lines, each cleaned, of at most `limit` characters. */
export const cleanLines = (text: string, limit: number): string => {
  const lines = text.slice(0, limit * 4).split(/\r\n|[\n\r\u0085\u2028\u2029]/);
  const shown = lines
    .map((line) => clean(line, limit))
    .join('\n')
    .trim();
  return cut(shown, limit, text.length > limit * 4);
};

/** The text as it is, unless it is too long or was cut before. */
const cut = (text: string, limit: number, wasCut: boolean): string =>
  text.length <= limit && !wasCut ? text : cutText(text, limit - 1) + mark;

const labelLimits = { count: 64, name: 128, value: 1024, total: 16_384 };

/** Members that are text, numbers or booleans, as texts; bounded, because some senders share them among many alerts. */
export const toLabels = (fields: Record<string, unknown>): Record<string, string> => {
  const labels: [string, string][] = [];
  let total = 0;
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') continue;
    const label: [string, string] = [clean(name, labelLimits.name), clean(String(value), labelLimits.value)];
    total += label[0].length + label[1].length;
    if (labels.length === labelLimits.count || total > labelLimits.total) break;
    labels.push(label);
  }
  return Object.fromEntries(labels);
};

/** A short text that is the same for the same parts, for ids that senders do not give. */
export const toFingerprint = (parts: readonly string[]): string => hash('sha256', JSON.stringify(parts)).slice(0, 16);

/** A longer one, by which requests and alerts that come again are recognized. */
export const hashParts = (...parts: (string | undefined)[]): string =>
  hash('sha256', JSON.stringify(parts), 'base64url').slice(0, 22);

/** The most characters of a key. */
const longestKey = 256;

/** A key that is too long keeps its beginning and a hash of all of it, so that no other key is the same. */
export const toShortKey = (key: string): string =>
  key.length <= longestKey ? key : `${cutText(key, longestKey - 23)}-${hash('sha256', key, 'base64url').slice(0, 22)}`;

const longestLink = 2048;
const mostLinks = 8;

/** Parts of a name that mark its value as secret, and how others of them end, e.g. `accesstoken`. */
const secretPart =
  /^(?:keys?|pwd|pass|sig|auth|oauth|authorization|code|otp|jwt|hmac|credentials?|passphrase|session)$/;
const secretEnd =
  /(?:tokens?|passwords?|passwd|secrets?|signature|api_?key|(?:access|auth|private|secret)key|authcode|sess(?:ion)?id)$/;

/** The first http or https URL among the values, without user info and secrets. */
export const toLink = (...values: unknown[]): string | undefined => {
  for (const value of values) {
    const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
    if (url?.protocol !== 'http:' && url?.protocol !== 'https:') continue;
    Object.assign(url, { username: '', password: '' });
    url.search = withoutSecrets(url.search.slice(1));
    if (url.hash.split(/[#?&;]/).some(isSecretParameter)) url.hash = '';
    if (url.href.length <= longestLink) return url.href;
    // A page without its parameters is better than none.
    Object.assign(url, { search: '', hash: '' });
    if (url.href.length <= longestLink) return url.href;
  }
  return undefined;
};

/** The links of an alert by their names; those that are no http or https URLs are left out. Undefined if none is left. */
export const toLinks = (named: Record<string, unknown>): Record<string, string> | undefined => {
  const links: [string, string][] = [];
  for (const [name, value] of Object.entries(named)) {
    const link = value === undefined ? undefined : toLink(value);
    if (link !== undefined && links.length < mostLinks) links.push([name, link]);
  }
  return links.length === 0 ? undefined : Object.fromEntries(links);
};

/** Members of annotations and the like that are links, by what they lead to. */
export const listLinks = (fields: Record<string, unknown>): Record<string, unknown> => ({
  runbook: fields['runbook_url'] ?? fields['runbookUrl'] ?? fields['runbook'],
  dashboard: fields['dashboard_url'] ?? fields['dashboardURL'] ?? fields['dashboard'],
  panel: fields['panel_url'] ?? fields['panelURL'],
  silence: fields['silence_url'] ?? fields['silenceURL'],
});

/** A query whose other parameters stay as they are written. */
const withoutSecrets = (query: string): string =>
  query
    .split('&')
    .filter((parameter) => !isSecretParameter(parameter))
    .join('&');

/** True if the name of a parameter marks its value as secret, or its value is a URL with secrets. */
const isSecretParameter = (parameter: string): boolean => {
  const [name = '', ...rest] = parameter.split('=');
  const value = decode(rest.join('='));
  const parts = decode(name)
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/);
  if (rest.length > 0 && parts.some((part) => secretPart.test(part) || secretEnd.test(part))) return true;
  return /^https?:\/\//i.test(value) && URL.canParse(value) && toLink(value) !== new URL(value).href;
};

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
};
