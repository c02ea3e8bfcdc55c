import type { IncomingHttpHeaders } from 'node:http';
import { isCalendarDay } from '../lib/time-zone.ts';
import { HttpError } from './errors.ts';

const longestKey = 256;

/** For the OpenAPI document. */
export const idempotencyKeyHeader = {
  'Idempotency-Key': 'The same for each attempt to send a request: later ones get the first response again.',
};

/** The header `Idempotency-Key`, if there is one; it must have 1 to 256 characters. */
export const readIdempotencyKey = (headers: IncomingHttpHeaders): string | undefined => {
  const header = headers['idempotency-key'];
  if (header === undefined) return undefined;
  const key = String(header);
  if (key !== '' && key.length <= longestKey) return key;
  throw new HttpError('invalid', `Idempotency-Key must have 1 to ${longestKey} characters`);
};

/**
 * Entity tags as this server has made them, without the marks of proxies that compress responses: Apache and Caddy add
 * `-gzip`, `-br` or `-zstd`, Jetty `--gzip`, older versions `;gzip`.
 */
export const toOwnTags = (header: string): string => header.replace(/(?:--?|;)(?:gzip|x-gzip|deflate|br|zstd)"/g, '"');

const list = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"(?:[ \t]*,[ \t]*(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")*$/;

/** What routes document of `If-Match`. */
export const ifMatchHeader = {
  'If-Match': 'Change only these versions, values of `ETag`; any by default. Otherwise 412.',
};

/**
 * The versions that `If-Match` names, as entity tags with a number; undefined if any will do. Weak tags count, although
 * RFC 9110 (13.1.1) has them match nothing: proxies weaken the tags of what they compress.
 */
export const readIfMatch = ({ 'if-match': header }: IncomingHttpHeaders): number[] | undefined => {
  if (header === undefined || header.trim() === '*') return undefined;
  if (!list.test(header.trim()))
    throw new HttpError('invalid', 'If-Match must be * or versions in quotes, such as "3"');
  return [...toOwnTags(header).matchAll(/(?:^|,)[ \t]*(?:W\/)?"([1-9]\d{0,14})"/g)].map(([, digits]) => Number(digits));
};

/** What routes that create or replace document of conditions. */
export const putConditionHeaders = {
  ...ifMatchHeader,
  'If-None-Match': '`*`: create it, and replace none. Otherwise 412.',
};

/** The versions of which one must be there before a PUT, 0 for none; undefined if any will do. `isNew`: none is there. */
export const readPutCondition = (headers: IncomingHttpHeaders, isNew: boolean): number[] | undefined => {
  const expected = readIfMatch(headers);
  const { 'if-none-match': header } = headers;
  // Also `*` needs one that is there (RFC 9110, 13.1.1).
  if (header === undefined) return isNew && headers['if-match'] !== undefined ? [] : expected;
  if (header.trim() !== '*') throw new HttpError('invalid', 'If-None-Match must be *');
  // With If-Match, which needs one that is there, nothing will do.
  return headers['if-match'] === undefined ? [0] : [];
};

/** Version, trace id, parent id and flags; later versions may add more (W3C Trace Context, 3.2). */
const form = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-[\x21-\x7e]{0,200})?$/;

/** `traceparent` of a request's headers, or of a record, as a member of another object; nothing if it is missing or invalid. */
export const toTrace = ({ traceparent }: Readonly<Record<string, unknown>>): { traceparent?: string } =>
  typeof traceparent === 'string' && form.test(traceparent) ? { traceparent } : {};

/** Later times would have more than four digits in some zones. */
const yearEnd = Date.parse('9999-01-01T00:00:00Z');

const rfc3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** The Unix milliseconds of a query's time as in RFC 3339, from 1970 on; NaN for any other text. */
export const parseTime = (given: string): number => {
  // A plus sign that was not encoded arrives as a space.
  const text = given.replace(/ (?=\d\d:\d\d$)/, '+');
  if (!rfc3339.test(text)) return Number.NaN;
  const time = Date.parse(text.replace(' ', 'T').toUpperCase());
  return isCalendarDay(text) && time >= 0 && time < yearEnd ? time : Number.NaN;
};

/** The same of a member of a request, which messages call by its name. Throws an HttpError for any other text. */
export const requireTime = (name: string, text: string): number => {
  const time = parseTime(text);
  if (!Number.isNaN(time)) return time;
  throw new HttpError('invalid', `${name} must be a time as in RFC 3339 with its offset, such as 2026-01-31T09:30:00Z`);
};

/** User name and password before the host of an absolute URI (RFC 3986, 3.2.1). */
const userInfo = /^(\w+:\/\/)[^/]*@/;

/** Looks like a JSON Web Token: three parts, the first of which begins with `{"` in base64url. */
const token = /eyJ[\w-]*\.[\w-]*\.[\w-]*/g;

/** Looks like a key of the setting `keys`, or a part of one. */
const key = /sbk_[0-9A-Za-z]+/g;

/** Looks like the token of a link that acknowledges incidents, or a part of one. */
const link = /ack_[\w-]+/g;

/** The address of a heartbeat, however it is encoded: at least as long as a UUID. */
const heartbeat = /\/ping\/[^/]{36,}/gi;

/**
 * The path of a URL for the log. Query and fragment, which may hold tokens and passwords, are left out, as are the user
 * name before the host, and tokens, keys and addresses of heartbeats in the path. Bytes that are not printable ASCII are percent-encoded: Node returns each
 * byte of a URL as one character (latin1).
 */
export const toLoggedPath = (url: string): string =>
  (url.split(/[?#]|%3f|%23/i, 1)[0] ?? '')
    .replace(userInfo, '$1')
    .replace(token, '(token)')
    .replace(key, '(key)')
    .replace(link, '(token)')
    .replace(heartbeat, '/ping/(address)')
    .replace(/[^!-~]/g, (character) => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`);
