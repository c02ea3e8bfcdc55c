import { type IncomingMessage, ServerResponse } from 'node:http';
import { largeLength } from '../connection/limits.ts';

export type Headers = Readonly<Record<string, string>>;

interface Origin {
  /** Whether pages of all origins may use the service. */
  cors: boolean;
  /** Whether the server itself speaks TLS. */
  secure: boolean;
}

/** Headers of every response, errors included; files replace `cache-control` by their own. */
export const createCommonHeaders = ({ cors, secure }: Origin): Headers => ({
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  ...(cors && {
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'GET,POST,PUT,DELETE',
  }),
  // RFC 6797: a year.
  ...(secure && { 'strict-transport-security': 'max-age=31536000' }),
});

type End = Parameters<ServerResponse['end']>;

const isLong = (text: unknown): boolean => ((text as string | Buffer | undefined)?.length ?? 0) >= largeLength;

/**
 * The class of the server's responses. Each has the common headers. Responses that are ready within one turn of the
 * event loop are written together at its end: the first write wakes the reader, and by the time it runs the others are
 * there, too.
 */
export const createResponseClass = (common: Headers): typeof ServerResponse<IncomingMessage> => {
  const names = Object.keys(common);
  const commonList = Object.entries(common).flat();
  /** Names and values in turn, which Node sends as they are; own headers replace common ones. */
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
    #end: unknown[] = [];

    override writeHead(status: number, ...rest: unknown[]): this {
      // Streams set their headers one by one: here, too, the common ones come first.
      const own = rest.length > 0 ? (rest.at(-1) as Headers) : takeHeaders(this);
      return super.writeHead(status, toList(own));
    }

    override end(...args: unknown[]): this {
      this.isReady = true;
      // The last response of a connection waits for no other. A long one has to count at once among what is unread.
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
  // A response that waits for the end of the turn has ended for everybody else. TypeScript has it as a property.
  Object.defineProperty(Response.prototype, 'writableEnded', {
    get(this: Response) {
      return this.isReady;
    },
  });
  return Response;
};

/** The headers that were set one by one; they are not set any more. */
const takeHeaders = (response: ServerResponse): Headers => {
  const headers = response.getHeaders();
  for (const name of Object.keys(headers)) response.removeHeader(name);
  return headers as Headers;
};
