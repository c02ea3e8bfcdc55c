import { hash } from 'node:crypto';
import { findSeverity, type Severity } from '../../severity.ts';

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

/** Labels or other fields that name a level, the most telling first. */
export const listSeverityNames = (fields: Record<string, unknown>): unknown[] => [
  fields['severity'],
  fields['level'],
  fields['priority'],
];

/** Labels or other fields that name a host, the most telling first. */
export const listHosts = (fields: Record<string, unknown>): unknown[] => [
  ...[fields['hostname'], fields['host'], fields['node'], fields['nodename'], fields['instance']],
];

/** The host in the first value that has one: `web-1` of `web-1:9100`, `::1` of `[::1]:9100` and `http://[::1]:9100/x`. */
export const toHostname = (...values: unknown[]): string => {
  for (const value of values) {
    const host = typeof value === 'string' ? readHost(value.trim()) : '';
    if (host !== '') return host;
  }
  return 'unknown';
};

const readHost = (text: string): string => {
  const authority = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? (tryUrl(text)?.host ?? '') : text;
  return /^\[(.+)\](?::\d*)?$/.exec(authority)?.[1] ?? /^([^:]*):\d*$/.exec(authority)?.[1] ?? authority;
};

const tryUrl = (text: string): URL | undefined => (URL.canParse(text) ? new URL(text) : undefined);

const time = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d(?:\.\d+)?)([Zz]|[+-]\d\d:?\d\d)?$/;

/** A time as RFC 3339 in UTC; one without an offset is UTC. Undefined for the years 0 and 1, and what is no time. */
export const toTime = (value: unknown): string | undefined => {
  const parts = typeof value === 'string' ? time.exec(value) : null;
  if (!parts) return undefined;
  const [, day, clock, offset = 'Z'] = parts;
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
  text.length <= limit && !wasCut ? text : text.slice(0, limit - 1).replace(/[\ud800-\udbff]$/, '') + mark;

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
    if (url.hash.split(/[#?&;]/).some(isSecret)) url.hash = '';
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
    .filter((parameter) => !isSecret(parameter))
    .join('&');

/** True if the name of a parameter marks its value as secret, or its value is a URL with secrets. */
const isSecret = (parameter: string): boolean => {
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
