import { createHmac, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { parseJsonBody, readMediaType } from '../../../http/body.ts';
import { HttpError } from '../../../http/errors.ts';
import type { Format, Incoming } from './format.ts';
import { formats } from './formats.ts';

/** What a handler of an intake path is given. */
export const toIncoming = ({ body, headers, raw, server }: FastifyRequest): Incoming => ({
  bytes: Buffer.isBuffer(body) ? body : Buffer.alloc(0),
  headers,
  contentType: readMediaType(raw),
  parseJson: (bytes) => parseJsonBody(server, bytes),
});

export interface ReadBody {
  format: Format;
  /** Not checked against the format's schema yet. */
  value: unknown;
}

/** The value in a body; without a `format`, that of the format which the body fits. Throws an HttpError. */
export const readBody = (incoming: Incoming, format?: Format): ReadBody => {
  const { headers, bytes, contentType } = incoming;
  if (headers['content-encoding'] !== undefined && headers['content-encoding'] !== 'identity') {
    throw new HttpError('unsupported-media-type', 'The body is compressed; send it as it is');
  }
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
