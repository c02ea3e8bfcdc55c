import { type IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Distribution, Meters } from '../metrics/meters.ts';
import { type HttpError, type ShedReason, shedReasons } from './errors.ts';

/** Length, in characters or bytes, from which a response counts as large. */
export const largeLength = 64 * 1024;

export type Headers = Readonly<Record<string, string>>;

interface Origin {
  /** True if pages from any origin may use the server. */
  cors: boolean;
  /** True if the server itself speaks TLS. */
  secure: boolean;
  /** Name of this instance. Set if several instances share a database. */
  instance?: string | undefined;
}

/** Creates the headers of every response, including errors. Files set their own `cache-control`. */
export const createCommonHeaders = ({ cors, secure, instance }: Origin): Headers => ({
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  ...(cors && {
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'GET,POST,PUT,DELETE',
  }),
  ...(instance !== undefined && { 'x-signalbox-instance': instance }),
  // One year (RFC 6797).
  ...(secure && { 'strict-transport-security': 'max-age=31536000' }),
});

const isLong = (text: unknown): boolean => ((text as string | Buffer | undefined)?.length ?? 0) >= largeLength;

/**
 * Creates the class of the server's responses. Each response has the common headers. Responses that are ready in the
 * same turn of the event loop are written together at its end, so that a client that wakes up for the first response
 * also finds the others.
 */
export const createResponseClass = (common: Headers): typeof ServerResponse<IncomingMessage> => {
  const commonEntries = Object.entries(common);
  /** Lists names and values alternately, because Node sends this form unchanged. Own headers replace common headers. */
  const toList = (own: Headers): string[] => {
    const list: string[] = [];
    for (const [name, value] of commonEntries) if (own[name] === undefined) list.push(name, value);
    for (const name in own) list.push(name, own[name] as string);
    return list;
  };
  let batch: Response[] = [];
  const writeBatch = (): void => {
    const ready = batch;
    batch = [];
    for (const response of ready) response.endNow();
    const now = performance.now();
    for (const response of ready) response.observe(now);
  };
  class Response extends ServerResponse<IncomingMessage> {
    isReady = false;
    /** Records the duration of the response. Set once the route is known. See `createTimings`. */
    timing: Timing | undefined;
    readonly startedAt = performance.now();
    #chunk: unknown;
    #encoding: unknown;
    #done: unknown;

    override writeHead(status: number, message?: unknown, headers: unknown = message): this {
      // Streams set their headers individually. The common headers still come first.
      return super.writeHead(status, toList((headers as Headers | undefined) ?? takeHeaders(this)));
    }

    override end(chunk?: unknown, encoding?: unknown, done?: unknown): this {
      this.isReady = true;
      // Two kinds of responses are not batched: the last response of a connection, and a long response, because it must
      // count as unread immediately.
      if (!this.shouldKeepAlive || isLong(chunk)) {
        super.end(chunk, encoding as BufferEncoding, done as () => void);
        this.observe(performance.now());
        return this;
      }
      if (batch.length === 0) setImmediate(writeBatch);
      this.#chunk = chunk;
      this.#encoding = encoding;
      this.#done = done;
      batch.push(this);
      return this;
    }

    endNow(): void {
      super.end(this.#chunk, this.#encoding as BufferEncoding, this.#done as () => void);
      this.#chunk = undefined;
      this.#done = undefined;
    }

    observe(now: number): void {
      this.timing?.(this.statusCode).observe((now - this.startedAt) / 1000);
      this.timing = undefined;
    }
  }
  // A batched response counts as ended. TypeScript declares a property, so the class cannot have a getter.
  Object.defineProperty(Response.prototype, 'writableEnded', {
    get(this: Response) {
      return this.isReady;
    },
  });
  return Response;
};

/** Removes and returns the headers that were set individually. */
const takeHeaders = (response: ServerResponse): Headers => {
  const headers = response.getHeaders();
  for (const name of Object.keys(headers)) response.removeHeader(name);
  return headers as Headers;
};

/** Upper bounds of the buckets, in seconds. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Distributions of the response times of one method on one route, by status. */
type Timing = (status: number) => Distribution;

/** Response that may be timed. See the response class. */
interface Timed {
  timing?: Timing | undefined;
}

/** Excludes a response whose duration says nothing about the server, such as a stream of events. */
export const skipTiming = ({ raw }: FastifyReply): void => {
  (raw as Timed).timing = undefined;
};

/** Creates functions that time responses by the patterns of their routes, and that count refusals because of load. */
export const createTimings = (meters: Meters) => {
  const durations = meters.histogram(
    'http_request_duration_seconds',
    'Time from the headers of a request to the end of the response, by route.',
    ['method', 'route', 'status_code'],
    bounds,
  );
  const shed = meters.counter(
    'signalbox_requests_shed_total',
    'Requests refused because of load.',
    ['reason'],
    shedReasons,
  );
  const known = new Map<string, Timing>();
  const find = (method: string, route: string): Timing => {
    const key = `${method} ${route}`;
    let timing = known.get(key);
    if (!timing) {
      const byStatus: Record<number, Distribution> = {};
      timing = (status) => (byStatus[status] ??= durations.at(method, route, String(status)));
      known.set(key, timing);
    }
    return timing;
  };
  const noteShed = (reason: ShedReason | undefined): void => {
    if (reason !== undefined) shed.at(reason).value += 1;
  };
  return {
    /** Times the responses of routes that are added later. */
    timeRoutes: (app: FastifyInstance): void => {
      app.addHook('onRoute', (options) => {
        const { handler, url, method } = options;
        const timing = typeof method === 'string' ? find(method, url) : undefined;
        options.handler = function handle(request, reply) {
          (reply.raw as Timed).timing = timing ?? find(request.method, url);
          return handler.call(this, request, reply);
        };
      });
    },
    /** Counts a request that was refused before it reached the router. */
    noteShed,
    /** Counts an error of a route. The handler may not have been reached, and a request may have no route. */
    noteError: (error: unknown, { request, raw }: FastifyReply): void => {
      noteShed((error as Partial<HttpError> | undefined)?.shed);
      (raw as Timed).timing ??= find(request.method, request.is404 ? 'none' : String(request.routeOptions.url));
    },
  };
};

export type Timings = ReturnType<typeof createTimings>;
