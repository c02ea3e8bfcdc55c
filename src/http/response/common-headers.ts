import { type IncomingMessage, ServerResponse } from 'node:http';
import { largeLength } from '../connection/limits.ts';
import type { Timing } from './timing.ts';

export type Headers = Readonly<Record<string, string>>;

interface Origin {
  /** Whether pages of all origins may use the server. */
  cors: boolean;
  /** Whether the server itself speaks TLS. */
  secure: boolean;
  /** The name of this instance, if several share a database. */
  instance?: string | undefined;
}

/** Headers of every response, including errors; files set their own `cache-control`. */
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

type End = Parameters<ServerResponse['end']>;

const isLong = (text: unknown): boolean => ((text as string | Buffer | undefined)?.length ?? 0) >= largeLength;

/**
 * The class of the server's responses. Each has the common headers. Responses that are ready within one turn of the
 * event loop are written together at its end, so a client that wakes up for the first one finds the others there.
 */
export const createResponseClass = (common: Headers): typeof ServerResponse<IncomingMessage> => {
  const names = Object.keys(common);
  const commonList = Object.entries(common).flat();
  /** Names and values in turn, which Node sends unchanged; own headers replace common ones. */
  const toList = (own: Headers): string[] => {
    const list = commonList.slice();
    for (const name in own) {
      const at = name in common ? 2 * names.indexOf(name) : list.length;
      list[at] = name;
      list[at + 1] = own[name] as string;
    }
    return list;
  };
  let batch: Response[] = [];
  const writeBatch = (): void => {
    const ready = batch;
    batch = [];
    for (const response of ready) response.endNow();
  };
  class Response extends ServerResponse<IncomingMessage> {
    isReady = false;
    /** Set once the route is known; see `createTimings`. */
    timing: Timing | undefined;
    readonly #startedAt = performance.now();
    #end: unknown[] = [];

    override writeHead(status: number, ...rest: unknown[]): this {
      // Streams set their headers one by one; the common ones still come first.
      const own = rest.length > 0 ? (rest.at(-1) as Headers) : takeHeaders(this);
      return super.writeHead(status, toList(own));
    }

    override end(...args: unknown[]): this {
      this.isReady = true;
      this.timing?.observe(this.statusCode, (performance.now() - this.#startedAt) / 1000);
      this.timing = undefined;
      // Not the last response of a connection, nor a long one, which must count as unread at once.
      if (!this.shouldKeepAlive || isLong(args[0])) return super.end(...(args as End));
      if (batch.length === 0) setImmediate(writeBatch);
      this.#end = args;
      batch.push(this);
      return this;
    }

    endNow(): void {
      super.end(...(this.#end.splice(0) as End));
    }
  }
  // A batched response counts as ended. TypeScript declares a property, so a getter in the class is not possible.
  Object.defineProperty(Response.prototype, 'writableEnded', {
    get(this: Response) {
      return this.isReady;
    },
  });
  return Response;
};

/** Removes and returns the headers that were set one by one. */
const takeHeaders = (response: ServerResponse): Headers => {
  const headers = response.getHeaders();
  for (const name of Object.keys(headers)) response.removeHeader(name);
  return headers as Headers;
};
