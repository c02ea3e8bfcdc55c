import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isObject } from '../lib/parse-json.ts';
import { makeParsedWellFormed } from '../lib/well-formed.ts';
import { createUnpacker, findCoding } from './content-coding.ts';
import { HttpError } from './errors.ts';
import { FairShares } from './fair-shares.ts';
import { IncomingBody, refuseLength } from './incoming-body.ts';
import { assertFewValues } from './json-values.ts';

/**
 * What a route takes as its body: a JSON object, any JSON value, text, or a Buffer that it reads itself. `end`: of a body of any
 * size, the last 16 KiB or a little more as a Buffer.
 */
type BodyKind = 'object' | 'json' | 'text' | 'bytes' | 'end';

/** Options of a route about its body. */
export interface BodyOptions {
  /** A JSON object by default. */
  body?: BodyKind;
  /** The body may have 8 MiB, not 1 MiB. */
  largeBody?: true;
  /** The body may be compressed; its unpacked size is limited. */
  compressedBody?: true;
  /** Texts stay as they are sent. Elsewhere U+FFFD takes the place of half a surrogate pair, which receivers of messages refuse. */
  textsAsSent?: true;
  /** The value of a body that is no JSON; undefined if it has to be JSON. Throws an HttpError. */
  readOther?(mediaType: string | undefined, readText: () => string): object | undefined;
}

/** What of a route is about its body, for the route's config. */
export const pickBodyOptions = ({
  body,
  largeBody,
  compressedBody,
  textsAsSent,
  readOther,
}: BodyOptions): BodyOptions => ({
  ...(body && { body }),
  ...(largeBody && { largeBody }),
  ...(compressedBody && { compressedBody }),
  ...(textsAsSent && { textsAsSent }),
  ...(readOther && { readOther }),
});

const maximumBodyBytes = 1024 * 1024;
const maximumLargeBodyBytes = 8 * 1024 * 1024;

/** Bytes of incomplete bodies over all connections: those of routes with large bodies have as much again. */
const unfinishedBodyBytes = 64 * 1024 * 1024;

/**
 * Makes Fastify read every body with the same parser: `curl -d` and PowerShell send other types by default. What the client
 * has sent is left in `rawHeaders`.
 */
export const overrideContentType = (request: IncomingMessage): void => {
  if (request.method !== 'GET') request.headers['content-type'] = 'application/json';
};

/** The media type that the client has sent, in lower case and without parameters; undefined if it sent none. */
export const readMediaType = ({ rawHeaders }: IncomingMessage): string | undefined => {
  // Names and values stand in turn.
  const at = rawHeaders.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'content-type');
  return at < 0 ? undefined : rawHeaders[at + 1]?.split(';', 1)[0]?.trim().toLowerCase();
};

interface Reading {
  /** Called before the body is read. */
  beforeReading(request: IncomingMessage): void;
  /** Called when a body has arrived, since parsing it is most of the work. */
  findRefusal(): HttpError | undefined;
}

/**
 * Reads every request body as JSON in UTF-8, unless the route chooses another kind. An empty body is undefined, as is the
 * body of a route without a schema for it. The bytes of all incomplete bodies are limited, and divided between addresses: at
 * the limit, connections whose bodies make no progress are closed, and the oldest bodies of the address that holds the most
 * get 503; if that is not enough, so does the body that exceeds the limit.
 */
export const acceptBodies = (app: FastifyInstance, { beforeReading, findRefusal }: Reading): void => {
  const ordinary = { limit: maximumBodyBytes, shares: new FairShares(unfinishedBodyBytes) };
  const large = { limit: maximumLargeBodyBytes, shares: new FairShares(unfinishedBodyBytes) };
  const unpack = createUnpacker();
  const parseJson = createJsonParser(app);
  app.decorate(jsonParser, parseJson);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', (request, raw, done) => {
    // No route reads it.
    if (request.is404) return done(null);
    const options = request.routeOptions.config as BodyOptions;
    const room = options.largeBody ? large : ordinary;
    const coding = options.compressedBody ? findCoding(raw.headers['content-encoding']) : undefined;
    if (coding instanceof HttpError) return done(coding);
    const keepsEnd = options.body === 'end';
    if (!keepsEnd && Number(raw.headers['content-length']) > room.limit) return done(refuseLength(room.limit));
    beforeReading(raw);
    new IncomingBody({ request, ...room, unpack, coding, keepsEnd }, (refused, bytes) => {
      const body = refused ?? findRefusal() ?? parse(request, bytes, parseJson);
      if (body instanceof HttpError) done(body);
      else done(null, body);
    });
  });
};

/** The value of a body, or the HttpError if it has none. */
const parse = ({ raw, routeOptions }: FastifyRequest, bytes: Buffer, parseJson: JsonParser): unknown => {
  if (bytes.length === 0 || !routeOptions.schema?.body) return undefined;
  const { body: kind = 'object', textsAsSent, readOther } = routeOptions.config as BodyOptions;
  if (kind === 'bytes' || kind === 'end') return bytes;
  try {
    if (kind === 'text') return decode(bytes);
    const value = readOther?.(readMediaType(raw), () => decode(bytes)) ?? parseJson(bytes, textsAsSent);
    return kind === 'json' ? value : toObject(value);
  } catch (error) {
    return error;
  }
};

/** Turns bytes of JSON into their value. Throws an HttpError where they are none. */
type JsonParser = (bytes: Buffer, textsAsSent?: true) => unknown;

type ParseJson = (request: unknown, text: string, done: (error: Error | null, value?: unknown) => void) => void;

const createJsonParser = (app: FastifyInstance): JsonParser => {
  const parseJson = app.getDefaultJsonParser('error', 'error') as unknown as ParseJson;
  return (bytes, textsAsSent) => {
    if (bytes.length > maximumBodyBytes) assertFewValues(bytes);
    const json = decode(bytes);
    let value: unknown;
    parseJson(undefined, json, (error, parsed) => {
      if (error) throw new HttpError('invalid', 'Request body is not valid JSON');
      value = textsAsSent ? parsed : makeParsedWellFormed(json, parsed);
    });
    return value;
  };
};

/** Name of the Fastify decorator with the parser of JSON. */
const jsonParser = 'jsonParser';

/** The value of JSON that a handler has taken as bytes. Throws an HttpError where they are none. */
export const parseJsonBody = (app: FastifyInstance, bytes: Buffer): unknown =>
  app.getDecorator<JsonParser>(jsonParser)(bytes);

/** The JSON parser removes one byte order mark; the decoder must not remove another. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const decode = (bytes: Buffer): string => {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new HttpError('invalid', 'Request body is not valid UTF-8');
  }
};

/** The value without its null members, which count as absent. */
const toObject = (value: unknown): Record<string, unknown> => {
  if (!isObject(value)) throw new HttpError('invalid', 'Request body must be a JSON object');
  for (const name of Object.keys(value)) {
    if (value[name] === null) delete value[name];
  }
  return value;
};
