import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { createFatal, createUnavailable, HttpError } from './errors.ts';
import { FairShares, type Holder, type Share } from './fair-shares.ts';

/**
 * What a route takes as its body: a JSON object, any JSON value, text, or a Buffer that it reads itself. `end`: of a body of any
 * size, the last 16 KiB or a little more as a Buffer.
 */
export type BodyKind = 'object' | 'json' | 'text' | 'bytes' | 'end';

const maximumBodyBytes = 1024 * 1024;

/** How much of a body is kept of which only the end counts: small enough not to be counted. */
const endBytes = 16 * 1024;

/** Bytes of incomplete bodies, over all connections. */
const unfinishedBodyBytes = 64 * 1024 * 1024;

/** Bodies up to this size are not counted: there are too few connections for them to matter. */
const smallBytes = 16 * 1024;

/** A body of more chunks than this is refused if they are smaller on average: each takes about 1 µs of the event loop. */
const manyChunks = 4000;
const smallChunkBytes = 32;

/** Milliseconds without progress after which an incomplete body counts as abandoned. */
const patience = 1000;

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
  const shares = new FairShares(unfinishedBodyBytes);
  const parseJson = createJsonParser(app);
  app.decorate(jsonParser, parseJson);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', (request, raw, done) => {
    // No route reads it.
    if (request.is404) return done(null);
    beforeReading(raw);
    const isEnd = kindOf(request) === 'end';
    if (!isEnd && Number(raw.headers['content-length']) > maximumBodyBytes) return done(tooLarge());
    new IncomingBody(request, shares, (refused, bytes) => {
      const body = refused ?? findRefusal() ?? parse(request, bytes, parseJson);
      if (body instanceof HttpError) done(body);
      else done(null, body);
    });
  });
};

const kindOf = ({ routeOptions }: FastifyRequest): BodyKind =>
  (routeOptions.config as { body?: BodyKind }).body ?? 'object';

/** The value of a body, or the HttpError if it has none. */
const parse = (request: FastifyRequest, bytes: Buffer, parseJson: JsonParser): unknown => {
  if (bytes.length === 0 || !request.routeOptions.schema?.body) return undefined;
  const kind = kindOf(request);
  if (kind === 'bytes' || kind === 'end') return bytes;
  try {
    if (kind === 'text') return decode(bytes);
    const value = parseJson(bytes);
    return kind === 'json' ? value : toObject(value);
  } catch (error) {
    return error;
  }
};

/** Turns bytes of JSON into their value. Throws an HttpError where they are none. */
type JsonParser = (bytes: Buffer) => unknown;

type ParseJson = (request: unknown, text: string, done: (error: Error | null, value?: unknown) => void) => void;

const createJsonParser = (app: FastifyInstance): JsonParser => {
  const parseJson = app.getDefaultJsonParser('error', 'error') as unknown as ParseJson;
  return (bytes) => {
    let value: unknown;
    parseJson(undefined, decode(bytes), (error, parsed) => {
      if (error) throw new HttpError('invalid', 'Request body is not valid JSON');
      value = parsed;
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
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new HttpError('invalid', 'Request body must be a JSON object');
  }
  const body = value as Record<string, unknown>;
  for (const name of Object.keys(body)) {
    if (body[name] === null) delete body[name];
  }
  return body;
};

const noBytes = Buffer.alloc(0);

/** Reads a body of at most 1 MiB, or the end of one of any size. */
class IncomingBody implements Holder {
  readonly #request: FastifyRequest;
  readonly #shares: FairShares;
  readonly #done: (error: HttpError | undefined, bytes: Buffer) => void;
  /** In a list of chunks, one-byte chunks would take about a hundred times the size of the body. */
  #held: Buffer = noBytes;
  #bytes = 0;
  #chunks = 0;
  #isDone = false;
  #share: Share | undefined;
  #arrivedAt = 0;

  constructor(
    request: FastifyRequest,
    shares: FairShares,
    done: (error: HttpError | undefined, bytes: Buffer) => void,
  ) {
    this.#request = request;
    this.#shares = shares;
    this.#done = done;
    const take = kindOf(request) === 'end' ? this.#takeEnd : this.#take;
    request.raw.on('data', (chunk: Buffer) => take.call(this, chunk)).on('end', () => this.#finish(undefined));
  }

  lose(): void {
    if (this.activity() === 'abandoned') this.#request.raw.socket.destroy();
    else this.#finish(tooMany());
  }

  activity(): 'abandoned' | 'idle' {
    return performance.now() - this.#arrivedAt > patience ? 'abandoned' : 'idle';
  }

  #take(chunk: Buffer): void {
    // The rest of a refused body.
    if (this.#isDone) return;
    const total = this.#bytes + chunk.length;
    const fault = this.#findFault(total);
    if (fault) {
      this.#finish(fault);
      return;
    }
    this.#held = this.#bytes === 0 ? chunk : append(this.#held, this.#bytes, chunk);
    this.#bytes = total;
  }

  #takeEnd(chunk: Buffer): void {
    this.#held = Buffer.concat([this.#held, chunk.subarray(-endBytes)]).subarray(-endBytes);
    this.#bytes = this.#held.length;
  }

  #finish(error: HttpError | undefined): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#release();
    const bytes = this.#held.subarray(0, this.#bytes);
    this.#held = noBytes;
    this.#done(error, bytes);
  }

  #release(): void {
    if (this.#share) this.#shares.release(this.#share);
  }

  #findFault(total: number): HttpError | undefined {
    this.#chunks += 1;
    if (this.#chunks > manyChunks && this.#bytes < this.#chunks * smallChunkBytes) return tooFragmented();
    if (total > maximumBodyBytes) return tooLarge();
    return total <= smallBytes || this.#count(total) ? undefined : tooMany();
  }

  /** False if there is no room for so many bytes. */
  #count(total: number): boolean {
    this.#arrivedAt = performance.now();
    if (this.#share) return this.#shares.grow(this.#share, total - this.#bytes);
    const { ip, raw } = this.#request;
    this.#share = this.#shares.take(ip, this, total);
    // The client may leave before the body is complete.
    raw.once('close', () => this.#release());
    return this.#share !== undefined;
  }
}

/** Appends the chunk to the first `bytes` of `held`, in the same buffer if it has room, else in one twice as large. */
const append = (held: Buffer, bytes: number, chunk: Buffer): Buffer => {
  const end = bytes + chunk.length;
  const room = end <= held.length ? held : Buffer.allocUnsafe(Math.min(Math.max(2 * end, 1024), maximumBodyBytes));
  if (room !== held) held.copy(room, 0, 0, bytes);
  chunk.copy(room, bytes);
  return room;
};

const tooLarge = (): HttpError => createFatal('too-large', 'Request body is larger than 1 MiB');

const tooFragmented = (): HttpError => createFatal('invalid', 'Request body has too many small chunks');

const tooMany = (): HttpError =>
  createUnavailable('Too many request bodies are arriving; try again in a second', 'unfinished_bodies');
