import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { makeParsedWellFormed } from '../lib/well-formed.ts';
import { createUnpacker, findCoding } from './content-coding.ts';
import { HttpError } from './errors.ts';
import { FairShares } from './fair-shares.ts';
import { IncomingBody, refuseLength } from './incoming-body.ts';
import { assertFewValues } from './json-values.ts';
import { decodeBody, toObject } from './object-body.ts';

/**
 * Form of a route's body: a JSON object, any JSON value, text, or a Buffer that the route itself parses. `end` is a
 * Buffer with the last 16 KiB, or slightly more, of a body of any size.
 */
type BodyKind = 'object' | 'json' | 'text' | 'bytes' | 'end';

/** Route options for the body. */
export interface BodyOptions {
  /** Form of the body. Default: a JSON object. */
  body?: BodyKind;
  /** Set to allow 8 MiB instead of 1 MiB. */
  largeBody?: true;
  /** Set to allow a compressed body. The limits also apply to its unpacked size. */
  compressedBody?: true;
  /**
   * Set to keep strings as they were sent. On other routes, U+FFFD replaces lone surrogates, because the receivers of
   * messages refuse them.
   */
  textsAsSent?: true;
  /**
   * Returns the value of a body that is not JSON. Undefined if the body must be JSON. Throws an HttpError if the body
   * is invalid.
   */
  readOther?(mediaType: string | undefined, readText: () => string): object | undefined;
}

/** Picks the body options for the route's config. */
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

/**
 * Maximum total size of incomplete bodies on all connections, in bytes. Routes with large bodies share a second budget
 * of this size.
 */
const unfinishedBodyBytes = 64 * 1024 * 1024;

/**
 * Makes Fastify read every body with the same parser, because `curl -d` and PowerShell send other types by default. The
 * client's own header stays in `rawHeaders`.
 */
export const overrideContentType = (request: IncomingMessage): void => {
  if (request.method !== 'GET') request.headers['content-type'] = 'application/json';
};

/** Returns the media type that the client sent, in lower case and without parameters. Undefined without the header. */
export const readMediaType = ({ rawHeaders }: IncomingMessage): string | undefined => {
  // The list alternates between names and values.
  const at = rawHeaders.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'content-type');
  return at < 0 ? undefined : rawHeaders[at + 1]?.split(';', 1)[0]?.trim().toLowerCase();
};

interface Reading {
  /** Called before the body is read. */
  beforeReading(request: IncomingMessage): void;
  /** Returns the reason to refuse a body. Called when the body has arrived, because most of the work is parsing it. */
  findRefusal(): HttpError | undefined;
}

/**
 * Reads every request body as JSON in UTF-8, unless the route chooses another form. An empty body is undefined, and so
 * is the body of a route without a body schema. The total bytes of incomplete bodies are limited and divided between
 * addresses. At the limit, connections whose bodies make no progress are closed, and the oldest bodies of the address
 * that holds the most get 503. If that is not enough, the body that exceeds the limit also gets 503.
 */
export const acceptBodies = (app: FastifyInstance, { beforeReading, findRefusal }: Reading): void => {
  const ordinary = { limit: maximumBodyBytes, shares: new FairShares(unfinishedBodyBytes) };
  const large = { limit: maximumLargeBodyBytes, shares: new FairShares(unfinishedBodyBytes) };
  const unpack = createUnpacker();
  const parseJson = createJsonParser(app);
  app.decorate(jsonParser, parseJson);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', (request, raw, done) => {
    // No route reads the body.
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

/** Parses a body in the form that its route expects. Throws an HttpError for an invalid body. */
const parse = ({ raw, routeOptions }: FastifyRequest, bytes: Buffer, parseJson: JsonParser): unknown => {
  if (bytes.length === 0 || !routeOptions.schema?.body) return undefined;
  const { body: kind = 'object', textsAsSent, readOther } = routeOptions.config as BodyOptions;
  if (kind === 'bytes' || kind === 'end') return bytes;
  try {
    if (kind === 'text') return decodeBody(bytes);
    const value = readOther?.(readMediaType(raw), () => decodeBody(bytes)) ?? parseJson(bytes, textsAsSent);
    return kind === 'json' ? value : toObject(value);
  } catch (error) {
    return error;
  }
};

/** Parses bytes of JSON. Throws an HttpError for invalid JSON. */
type JsonParser = (bytes: Buffer, textsAsSent?: true) => unknown;

type ParseJson = (request: unknown, text: string, done: (error: Error | null, value?: unknown) => void) => void;

const createJsonParser = (app: FastifyInstance): JsonParser => {
  const parseJson = app.getDefaultJsonParser('error', 'error') as unknown as ParseJson;
  return (bytes, textsAsSent) => {
    if (bytes.length > maximumBodyBytes) assertFewValues(bytes);
    const json = decodeBody(bytes);
    let value: unknown;
    parseJson(undefined, json, (error, parsed) => {
      if (error) throw new HttpError('invalid', 'Request body is not valid JSON');
      value = textsAsSent ? parsed : makeParsedWellFormed(json, parsed);
    });
    return value;
  };
};

/** Name of the Fastify decorator that holds the JSON parser. */
const jsonParser = 'jsonParser';

/** Parses JSON that a handler has received as bytes. Throws an HttpError for invalid JSON. */
export const parseJsonBody = (app: FastifyInstance, bytes: Buffer): unknown =>
  app.getDecorator<JsonParser>(jsonParser)(bytes);
