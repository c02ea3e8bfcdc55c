import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { maximumBodyBytes, unfinishedBodyBytes } from '../connection/limits.ts';
import { createFatal, createUnavailable, HttpError } from '../response/errors.ts';

/** What a route takes as its body: a JSON object, any JSON value, text, or a Buffer that it reads itself. */
export type BodyKind = 'object' | 'json' | 'text' | 'bytes';

/** The JSON parser takes one byte order mark away; the decoder would take another. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

type ParseJson = (request: unknown, text: string, done: (error: Error | null, value?: unknown) => void) => void;

/** Makes the function that turns bytes of JSON into their value. It throws an HttpError where they are none. */
export const createJsonParser = (app: FastifyInstance): ((bytes: Buffer) => unknown) => {
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

/** Makes the function that turns the bytes of a body into its value. It throws an HttpError where they are not one. */
const createBodyParser = (app: FastifyInstance): ((bytes: Buffer, kind: BodyKind) => unknown) => {
  const parseJson = createJsonParser(app);
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
  /** Called once nothing stands against the body. */
  beforeReading(request: IncomingMessage): void;
  /** Called when a body has arrived: its parsing is most of the work that it makes. */
  findRefusal(): HttpError | undefined;
}

/**
 * Reads every request body as JSON in UTF-8, whatever its Content-Type says: `curl -d` and PowerShell label JSON as
 * something else by default. A route chooses the kind of its body; a body that is empty, or that the route has no use
 * for, is undefined.
 */
export const acceptBodies = (app: FastifyInstance, { beforeReading, findRefusal }: Reading): void => {
  const parse = createBodyParser(app);
  const read = createBodyReader();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', (request, raw, done) => {
    // No route will look at it.
    if (request.is404) return done(null);
    beforeReading(raw);
    read(raw, (error, bytes) => {
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

/** Bodies of up to this size do not count: there are too few connections for them to matter. */
const smallBytes = 16 * 1024;

/** A body of more chunks than this is refused if they are smaller on average: each takes about 1 µs of the event loop. */
const manyChunks = 4000;
const smallChunkBytes = 32;

/** Milliseconds without progress after which an unfinished body must make room for others. */
const patience = 1000;

/**
 * Makes the function that reads a whole body, of at most 1 MiB. The bytes of all unfinished bodies are limited, too:
 * past the limit, connections whose bodies make no progress are closed, and where that is not enough, the body that
 * exceeds it is refused with 503.
 */
const createBodyReader = () => {
  /** Bodies of which a part has arrived, and when the last part did, in milliseconds. */
  const unfinished = new Map<IncomingMessage, { bytes: number; arrivedAt: number }>();
  let total = 0;
  const hold = (request: IncomingMessage, bytes: number): void => {
    const before = unfinished.get(request)?.bytes ?? 0;
    total += bytes - before;
    unfinished.set(request, { bytes, arrivedAt: performance.now() });
  };
  const release = (request: IncomingMessage): void => {
    total -= unfinished.get(request)?.bytes ?? 0;
    unfinished.delete(request);
  };
  const makeRoom = (): boolean => {
    const now = performance.now();
    for (const [request, { arrivedAt }] of unfinished) {
      if (now - arrivedAt <= patience) continue;
      release(request);
      request.socket.destroy();
    }
    return total <= unfinishedBodyBytes;
  };
  const findFault = (request: IncomingMessage, bytes: number): HttpError | undefined => {
    if (bytes > maximumBodyBytes) return tooLarge();
    if (bytes <= smallBytes) return undefined;
    hold(request, bytes);
    return total <= unfinishedBodyBytes || makeRoom() ? undefined : tooMany();
  };
  return (request: IncomingMessage, done: Done): void => {
    // A list of chunks would let a client that sends one byte in each take some hundred times its body's size.
    let held: Buffer = noBytes;
    let bytes = 0;
    let chunks = 0;
    const finish = (error: HttpError | null): void => {
      request.off('data', take).off('end', end);
      release(request);
      done(error, error ? undefined : held.subarray(0, bytes));
    };
    const take = (chunk: Buffer): void => {
      chunks += 1;
      const isCrumbled = chunks > manyChunks && bytes < chunks * smallChunkBytes;
      const fault = isCrumbled ? tooCrumbled() : findFault(request, bytes + chunk.length);
      if (fault) {
        finish(fault);
        return;
      }
      held = bytes === 0 ? chunk : append(held, bytes, chunk);
      bytes += chunk.length;
    };
    const end = (): void => finish(null);
    const leave = (): void => release(request);
    if (Number(request.headers['content-length']) > maximumBodyBytes) done(tooLarge());
    else request.on('data', take).on('end', end).on('close', leave);
  };
};

const noBytes = Buffer.alloc(0);

/** A buffer with the chunk behind the first `bytes` of `held`: the same where it has room, else one twice as large. */
const append = (held: Buffer, bytes: number, chunk: Buffer): Buffer => {
  const end = bytes + chunk.length;
  const room = end <= held.length ? held : Buffer.allocUnsafe(Math.min(Math.max(2 * end, 1024), maximumBodyBytes));
  if (room !== held) held.copy(room, 0, 0, bytes);
  chunk.copy(room, bytes);
  return room;
};

const tooLarge = (): HttpError => createFatal('too-large', 'Request body is larger than 1 MiB');

const tooCrumbled = (): HttpError => createFatal('invalid', 'Request body has too many small chunks');

const tooMany = (): HttpError => createUnavailable('Too many request bodies are arriving; try again in a second');
