import type { IncomingHttpHeaders } from 'node:http';
import { isCalendarDay } from '../lib/time-zone.ts';
import { HttpError } from './errors.ts';

const longestKey = 256;

/** OpenAPI documentation of the header. */
export const idempotencyHeader = {
  'Idempotency-Key': 'Key that identifies a request: a retry with this key gets the response of the first request.',
};

/** Reads the header `Idempotency-Key`. It must have 1 to 256 characters. Undefined without the header. */
export const readRepeatId = (headers: IncomingHttpHeaders): string | undefined => {
  const header = headers['idempotency-key'];
  if (header === undefined) return undefined;
  const key = String(header);
  if (key !== '' && key.length <= longestKey) return key;
  throw new HttpError('invalid', `Idempotency-Key must have 1 to ${longestKey} characters`);
};

/**
 * Restores this server's entity tags from tags that proxies changed when they compressed a response. Apache and Caddy
 * add `-gzip`, `-br` or `-zstd`. Jetty adds `--gzip`. Older versions add `;gzip`.
 */
export const toOwnTags = (header: string): string => header.replace(/(?:--?|;)(?:gzip|x-gzip|deflate|br|zstd)"/g, '"');

const list = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"(?:[ \t]*,[ \t]*(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")*$/;

/** OpenAPI documentation of `If-Match`. */
export const ifMatchHeader = {
  'If-Match':
    'Versions (values of `ETag`) that may be changed; 412 if the current version is different. Default: any version.',
};

/**
 * Reads the versions named in `If-Match`: entity tags with a number. Undefined if any version is accepted. Accepts weak
 * tags, because proxies weaken the tags of responses that they compress, although weak tags match nothing according to
 * RFC 9110 (13.1.1).
 */
export const readIfMatch = ({ 'if-match': header }: IncomingHttpHeaders): number[] | undefined => {
  if (header === undefined || header.trim() === '*') return undefined;
  if (!list.test(header.trim()))
    throw new HttpError('invalid', 'If-Match must be * or versions in quotes, such as "3"');
  return [...toOwnTags(header).matchAll(/(?:^|,)[ \t]*(?:W\/)?"([1-9]\d{0,14})"/g)].map(([, digits]) => Number(digits));
};

/** OpenAPI documentation of the condition headers of routes that create or replace. */
export const putConditionHeaders = {
  ...ifMatchHeader,
  'If-None-Match': '`*`: only create; 412 if the name exists.',
};

/**
 * Reads the versions that a PUT expects to replace. 0 stands for no stored version, and undefined for any version.
 * `isNew` is true if no version is stored.
 */
export const readPutCondition = (headers: IncomingHttpHeaders, isNew: boolean): number[] | undefined => {
  const expected = readIfMatch(headers);
  const { 'if-none-match': header } = headers;
  // `*` also requires a stored version (RFC 9110, 13.1.1).
  if (header === undefined) return isNew && headers['if-match'] !== undefined ? [] : expected;
  if (header.trim() !== '*') throw new HttpError('invalid', 'If-None-Match must be *');
  // If-Match requires a stored version, so together with it, no version is acceptable.
  return headers['if-match'] === undefined ? [0] : [];
};

/** Version, trace id, parent id and flags. Later versions may add more (W3C Trace Context, 3.2). */
const form = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-[\x21-\x7e]{0,200})?$/;

/**
 * Returns the `traceparent` of request headers or a record, as an object to spread. `{}` if it is missing or invalid.
 */
export const toTrace = ({ traceparent }: Readonly<Record<string, unknown>>): { traceparent?: string } =>
  typeof traceparent === 'string' && form.test(traceparent) ? { traceparent } : {};

/** Upper limit of times. In some zones, later times would have five-digit years. */
const yearEnd = Date.parse('9999-01-01T00:00:00Z');

const rfc3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** Parses an RFC 3339 time in a query to Unix milliseconds. NaN for any other text, and for times before 1970. */
export const parseTime = (given: string): number => {
  // A plus sign that was not encoded arrives as a space.
  const text = given.replace(/ (?=\d\d:\d\d$)/, '+');
  if (!rfc3339.test(text)) return Number.NaN;
  const time = Date.parse(text.replace(' ', 'T').toUpperCase());
  return isCalendarDay(text) && time >= 0 && time < yearEnd ? time : Number.NaN;
};

/**
 * Parses the time in a member of a request. Error messages call the member `name`. Throws an HttpError for any other
 * text.
 */
export const requireTime = (name: string, text: string): number => {
  const time = parseTime(text);
  if (!Number.isNaN(time)) return time;
  throw new HttpError('invalid', `${name} must be an RFC 3339 time with an offset, such as 2026-01-31T09:30:00Z`);
};

/** User name and password before the host of an absolute URI (RFC 3986, 3.2.1). */
const userInfo = /^(\w+:\/\/)[^/]*@/;

/** Matches strings that look like a JSON Web Token: three parts, the first of which begins with `{"` in base64url. */
const token = /eyJ[\w-]*\.[\w-]*\.[\w-]*/g;

/** Matches strings that look like a key from the setting `keys`, or like part of one. */
const key = /sbk_[0-9A-Za-z]+/g;

/** Matches strings that look like the token of an acknowledgement link, or like part of one. */
const link = /ack_[\w-]+/g;

/** Matches the address of a heartbeat. It is at least as long as a UUID. */
const heartbeat = /\/ping\/+[^/]{36,}/gi;

/** Matches the token of a link in a mail to subscribers. */
const subscription = /\/subscribe\/+[^/]{20,}/gi;

/** Matches the secret of a calendar address. */
const calendar = /\/oncall\/+[^/]{43,}/gi;

/** Maximum number of nested encodings that are decoded. */
const mostEncodings = 5;

/**
 * Decodes printable ASCII characters, even if they are encoded several times, because encoded secrets would otherwise
 * be logged.
 */
const decodePrintable = (path: string): string => {
  let decoded = path;
  for (let left = mostEncodings; left > 0 && decoded.includes('%'); left -= 1) {
    decoded = decoded.replaceAll(/%(2[1-9a-f]|[3-6][0-9a-f]|7[0-9a-e])/gi, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    );
  }
  return decoded;
};

/**
 * Returns the path of a URL for the log. Leaves out the query and fragment, because they may contain tokens and
 * passwords. Leaves out the user name before the host, and any tokens, keys and addresses of heartbeats and calendars
 * in the path, in any encoding. Bytes that are not printable ASCII are percent-encoded, because Node returns each byte
 * of a URL as one character (latin1).
 */
export const toLoggedPath = (url: string): string =>
  (decodePrintable(url.split(/[?#]/, 1)[0] ?? '').split(/[?#]/, 1)[0] ?? '')
    .replace(userInfo, '$1')
    .replace(token, '(token)')
    .replace(key, '(key)')
    .replace(link, '(token)')
    .replace(heartbeat, '/ping/(address)')
    .replace(calendar, '/oncall/(address)')
    .replace(subscription, '/subscribe/(token)')
    .replace(/[^!-~]/g, (character) => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`);
