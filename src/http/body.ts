import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { createFatal, createUnavailable, HttpError } from './errors.ts';
import { FairShares, type Holder, type Part } from './fair-shares.ts';
import { maximumBodyBytes, unfinishedBodyBytes } from './limits.ts';

/** What a route takes as its body: a JSON object, any JSON value, text, or a Buffer that it reads itself. */
export type BodyKind = 'object' | 'json' | 'text' | 'bytes';

/** The JSON parser removes one byte order mark; the decoder must not remove another. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

type JsonParser = (bytes: Buffer) => unknown;

type ParseJson = (request: unknown, text: string, done: (error: Error | null, value?: unknown) => void) => void;

/** Makes the function that turns bytes of JSON into their value. It throws an HttpError where they are none. */
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

const jsonParser = 'jsonParser';

/** The value of JSON that a handler has taken as bytes. Throws an HttpError where they are none. */
export const parseJsonBody = (app: FastifyInstance, bytes: Buffer): unknown =>
  app.getDecorator<JsonParser>(jsonParser)(bytes);

/** Makes the function that turns the bytes of a body into its value. It throws an HttpError where they are not one. */
const createBodyParser = (app: FastifyInstance): ((bytes: Buffer, kind: BodyKind) => unknown) => {
  const parseJson = createJsonParser(app);
  app.decorate(jsonParser, parseJson);
  return (bytes, kind) => {
    if (kind === 'bytes') return bytes;
    if (kind === 'text') return decode(bytes);
    const value = parseJson(bytes);
    return kind === 'json' ? value : toObject(value);
  };
};

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

interface Reading {
  /** Called before the body is read. */
  beforeReading(request: IncomingMessage): void;
  /** Called when a body has arrived, since parsing it is most of the work. */
  findRefusal(): HttpError | undefined;
}

/**
 * Reads every request body as JSON in UTF-8 and ignores its Content-Type: `curl -d` and PowerShell send another one by
 * default. A route chooses the kind of its body. An empty body is undefined, as is the body of a route without a schema
 * for it.
 */
export const acceptBodies = (app: FastifyInstance, { beforeReading, findRefusal }: Reading): void => {
  const parse = createBodyParser(app);
  const read = createBodyReader();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', (request, raw, done) => {
    // No route reads it.
    if (request.is404) return done(null);
    beforeReading(raw);
    read(request, (error, bytes) => {
      if (!bytes) return done(error);
      const body = findRefusal() ?? parseFor(request, bytes, parse);
      if (body instanceof HttpError) done(body);
      else done(null, body);
    });
  });
};

const parseFor = (
  { routeOptions }: FastifyRequest,
  bytes: Buffer,
  parse: ReturnType<typeof createBodyParser>,
): unknown => {
  if (bytes.length === 0 || !routeOptions.schema?.body) return undefined;
  try {
    return parse(bytes, (routeOptions.config as { body?: BodyKind }).body ?? 'object');
  } catch (error) {
    return error;
  }
};

type Done = (error: HttpError | null, bytes?: Buffer) => void;

/** Bodies up to this size are not counted: there are too few connections for them to matter. */
const smallBytes = 16 * 1024;

/** A body of more chunks than this is refused if they are smaller on average: each takes about 1 µs of the event loop. */
const manyChunks = 4000;
const smallChunkBytes = 32;

/** Milliseconds without progress after which an incomplete body counts as abandoned. */
const patience = 1000;

/** An incomplete body that is counted. */
class UnfinishedBody implements Holder {
  arrivedAt = performance.now();
  part: Part | undefined;
  readonly #request: IncomingMessage;
  readonly #refuse: (error: HttpError) => void;

  constructor(request: IncomingMessage, refuse: (error: HttpError) => void) {
    this.#request = request;
    this.#refuse = refuse;
  }

  lose(): void {
    if (this.activity() === 'abandoned') this.#request.socket.destroy();
    else this.#refuse(tooMany());
  }

  activity(): 'abandoned' | 'idle' {
    return performance.now() - this.arrivedAt > patience ? 'abandoned' : 'idle';
  }
}

/**
 * Creates the function that reads a whole body of at most 1 MiB. The bytes of all incomplete bodies are limited too, and
 * divided between addresses: at the limit, connections whose bodies make no progress are closed, and the oldest bodies of
 * the address that holds the most get 503; if that is not enough, so does the body that exceeds the limit.
 */
const createBodyReader = () => {
  const shares = new FairShares(unfinishedBodyBytes);
  return ({ raw: request, ip }: FastifyRequest, done: Done): void => {
    // In a list of chunks, one-byte chunks would take about a hundred times the size of the body.
    let held: Buffer = noBytes;
    let bytes = 0;
    let chunks = 0;
    let counted: UnfinishedBody | undefined;
    const finish = (error: HttpError | null): void => {
      leave();
      done(error, error ? undefined : held.subarray(0, bytes));
      held = noBytes;
    };
    const count = (total: number): boolean => {
      if (counted?.part) {
        counted.arrivedAt = performance.now();
        return shares.grow(counted.part, total - bytes);
      }
      counted = new UnfinishedBody(request, finish);
      counted.part = shares.take(ip, counted, total);
      return counted.part !== undefined;
    };
    const findFault = (total: number): HttpError | undefined => {
      chunks += 1;
      if (chunks > manyChunks && bytes < chunks * smallChunkBytes) return tooFragmented();
      if (total > maximumBodyBytes) return tooLarge();
      return total <= smallBytes || count(total) ? undefined : tooMany();
    };
    const take = (chunk: Buffer): void => {
      const fault = findFault(bytes + chunk.length);
      if (fault) {
        finish(fault);
        return;
      }
      held = bytes === 0 ? chunk : append(held, bytes, chunk);
      bytes += chunk.length;
    };
    const end = (): void => finish(null);
    const leave = (): void => {
      request.off('data', take).off('end', end);
      if (counted?.part) shares.release(counted.part);
    };
    if (Number(request.headers['content-length']) > maximumBodyBytes) done(tooLarge());
    else request.on('data', take).on('end', end).on('close', leave);
  };
};

const noBytes = Buffer.alloc(0);

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
