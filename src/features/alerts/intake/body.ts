import { createHmac, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import { parseJsonBody, readMediaType } from '../../../http/body.ts';
import { HttpError } from '../../../http/errors.ts';
import { isObject } from '../../../lib/parse-json.ts';
import {
  createSchemaCheck,
  describeSchemaErrors,
  listSchemaErrors,
  type SchemaFault,
} from '../../../lib/schema-validation.ts';
import type { ForeignAlert, Format, Incoming } from './format.ts';
import { alertmanagerFormat } from './formats/alertmanager.ts';
import { cloudevents } from './formats/cloudevents.ts';
import { grafana } from './formats/grafana.ts';
import { otlp } from './formats/otlp.ts';
import { pagerduty } from './formats/pagerduty.ts';
import { prometheus } from './formats/prometheus.ts';
import { slackFormat } from './formats/slack.ts';
import { uptimeKuma } from './formats/uptime-kuma.ts';
import { makeTexts } from './loose-texts.ts';

/** Every format, one line for each file in `formats`. */
export const formats: readonly Format[] = [
  alertmanagerFormat,
  prometheus,
  grafana,
  uptimeKuma,
  cloudevents,
  slackFormat,
  pagerduty,
  otlp,
];

/** What a handler of an intake path is given. */
export const toIncoming = ({ body, headers, raw, server }: FastifyRequest): Incoming => ({
  bytes: Buffer.isBuffer(body) ? body : Buffer.alloc(0),
  headers,
  contentType: readMediaType(raw),
  parseJson: (bytes) => parseJsonBody(server, bytes),
});

/**
 * The value in a body, which is not checked yet, and its format: that which is expected, or else the one that the body fits.
 * Throws an HttpError.
 */
export const readBody = (incoming: Incoming, format?: Format): { format: Format; value: unknown } => {
  const { bytes, contentType } = incoming;
  for (const each of format ? [format] : formats) {
    const value = each.decode?.(incoming);
    if (value !== undefined) return { format: each, value };
  }
  if (contentType !== undefined && !jsonTypes.test(contentType)) {
    throw new HttpError('unsupported-media-type', `The body must be JSON, not ${JSON.stringify(contentType)}`);
  }
  if (bytes.length === 0) throw new HttpError('invalid', 'Request body is required');
  const value = incoming.parseJson(bytes);
  return { format: format ?? recognize(value), value };
};

/** JSON, and the types that curl and browsers send by default. */
const jsonTypes =
  /^(?:(?:application|text)\/json|[\w.-]+\/[\w.-]+\+json|text\/plain|application\/x-www-form-urlencoded)$/;

/** The one format whose marks the value has; throws an HttpError that names the formats if none or several fit. */
const recognize = (value: unknown): Format => {
  const found = formats.filter((format) => format.recognizes(value));
  const [format, ...others] = found;
  if (format && others.length === 0) return format;
  const names = (format ? found : formats).map(({ name }) => name).join(', ');
  throw new HttpError('invalid', `The body fits ${format ? 'several formats' : 'none of the formats'}: ${names}`);
};

/** How many seconds a signed time may be off. */
const tolerance = 300;

/**
 * Checks the HMAC-SHA256, in hex, of the body, or of `unixSeconds:body` if the sender adds the time. Throws a 401 if it is
 * missing or wrong, or the time is off by more than five minutes.
 */
export const assertSigned = (
  secret: string,
  { header, timestampHeader }: NonNullable<Format['signature']>,
  { bytes, headers }: Incoming,
  now: Date,
): void => {
  const time = headers[timestampHeader];
  const mac = createHmac('sha256', secret);
  if (time !== undefined) mac.update(`${time}:`);
  const expected = mac.update(bytes).digest();
  const given = Buffer.from(String(headers[header] ?? ''), 'hex');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw new HttpError('unauthorized', `The signature in ${header} is missing or wrong`);
  }
  if (time !== undefined && !(Math.abs(now.getTime() / 1000 - Number(time)) <= tolerance)) {
    throw new HttpError('unauthorized', `The time in ${timestampHeader} is more than five minutes off`);
  }
};

const checks = new Map<TSchema, (value: unknown) => boolean>();

/**
 * Removes members that are null, makes texts of numbers where the schema has texts, and throws an HttpError that names the
 * place if the value does not fit the schema.
 */
export const assertFits = (schema: TSchema, value: unknown): void => {
  dropNulls(value);
  const isValid = checks.get(schema) ?? createSchemaCheck(schema);
  checks.set(schema, isValid);
  if (isValid(value)) return;
  makeTexts(schema, value);
  if (isValid(value)) return;
  const faults = describeSchemaErrors(listSchemaErrors(schema, shorten(value)), { nouns: { array: 'an array' } });
  throw new HttpError('invalid', describeDeepest(faults));
};

/** Not recursive: a body may be nested a hundred thousand levels deep. */
const dropNulls = (value: unknown): void => {
  const waiting = [value];
  for (const each of waiting) {
    if (Array.isArray(each)) {
      for (const member of each) if (typeof member === 'object') waiting.push(member);
    } else if (isObject(each)) {
      for (const name of Object.keys(each)) {
        if (each[name] === null) delete each[name];
        else if (typeof each[name] === 'object') waiting.push(each[name]);
      }
    }
  }
};

/** A copy with fewer elements in its arrays: to list the errors of half a million would take seconds. */
const shorten = (value: unknown, budget = { elements: 2000 }, depth = 0): unknown => {
  // No schema looks deeper.
  if (depth > 12) return value;
  if (isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, shorten(member, budget, depth + 1)]),
    );
  }
  if (!Array.isArray(value)) return value;
  const kept: unknown[] = [];
  for (const element of value) {
    if (budget.elements <= 0) break;
    budget.elements -= 1;
    kept.push(shorten(element, budget, depth + 1));
  }
  return kept;
};

/** The deepest fault: of a list of schemas, that of the one which fits best. */
const describeDeepest = ([first, ...others]: SchemaFault[]): string => {
  if (!first) return 'Request body is not valid';
  const { path, clause, members } = others.reduce(
    (one, other) => (other.path.length > one.path.length ? other : one),
    first,
  );
  const [missing] = members;
  if (missing !== undefined) return `${toPlace([...path, missing])} is required`;
  return `${toPlace(path) || 'Request body'} ${clause}`;
};

/** As in JavaScript: `alerts[3].labels`. */
const toPlace = (path: string[]): string =>
  path
    .map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`))
    .join('')
    .replace(/^\./, '')
    .slice(0, 200);

/** The most alerts in one body. */
const maxAlerts = 1000;

/** Counted while they are read: a body of 8 MiB can hold a million. */
export const takeAlerts = (alerts: Iterable<ForeignAlert>): ForeignAlert[] => {
  const taken: ForeignAlert[] = [];
  for (const alert of alerts) {
    if (taken.push(alert) > maxAlerts) throw new HttpError('too-large', `A body holds at most ${maxAlerts} alerts`);
  }
  return taken;
};
