import { type IncomingMessage, ServerResponse } from 'node:http';

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

/**
 * The class of the server's responses. Each has the common headers. Responses that are ready within one turn of the
 * event loop are written together at its end: the first write wakes the reader, and by the time it runs the others are
 * there, too.
 */
export const createResponseClass = (common: Headers): typeof ServerResponse<IncomingMessage> => {
  let batch: (() => void)[] = [];
  const writeBatch = (): void => {
    const ready = batch;
    batch = [];
    for (const write of ready) write();
  };
  return class extends ServerResponse<IncomingMessage> {
    override writeHead(status: number, ...rest: unknown[]): this {
      const headers = rest.at(-1);
      if (typeof headers === 'object') return super.writeHead(status, { ...common, ...headers });
      // Streams set their headers one by one: here, too, the common ones come first.
      const own = this.getHeaders();
      for (const name of Object.keys(own)) this.removeHeader(name);
      return super.writeHead(status, { ...common, ...own });
    }

    override end(...args: unknown[]): this {
      if (batch.length === 0) setImmediate(writeBatch);
      batch.push(() => void super.end(...(args as End)));
      return this;
    }
  };
};
