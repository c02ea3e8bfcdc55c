import { once } from 'node:events';
import { chmodSync, rmSync } from 'node:fs';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { FastifyBaseLogger } from 'fastify';
import { createInternalError, HttpError, toHttpError } from '../http/errors.ts';
import { MiB } from '../lib/units.ts';

/** Maximum size of an alert in bytes, and number of bytes kept at the end of a ping's body. */
const maxAlertBytes = MiB;
const maxPingBytes = 16 * 1024;

/**
 * Handlers for requests from programs on this machine. A handler throws or rejects with an HttpError if a request is
 * invalid.
 */
export interface LocalHandlers {
  /** Stores an alert. Resolves to its id. */
  receiveAlert(body: Buffer, headers: IncomingHttpHeaders): Promise<string>;
  /** Stores a ping. Resolves to true if the ping created its heartbeat. */
  receivePing(ping: {
    address: string;
    signal: string | undefined;
    query: URLSearchParams;
    body: Buffer;
  }): Promise<boolean>;
}

interface Reply {
  status: number;
  type: string;
  text: string;
}

/**
 * Socket for alerts and pings from programs on this machine. Does not use Fastify, because Fastify would take 10 MiB of
 * memory.
 */
export class LocalServer {
  readonly #handlers: LocalHandlers;
  readonly #log: Pick<FastifyBaseLogger, 'error'>;
  readonly #server: Server;

  constructor(handlers: LocalHandlers, log: Pick<FastifyBaseLogger, 'error'>) {
    this.#handlers = handlers;
    this.#log = log;
    this.#server = createServer({ requestTimeout: 30_000, headersTimeout: 10_000 }, (request, response) => {
      void this.#answer(request, response);
    });
    this.#server.maxConnections = 100;
  }

  /** Listens on a path in the data folder. The path belongs to this process. */
  async listen(path: string): Promise<void> {
    // A killed process may have left the socket.
    rmSync(path, { force: true });
    this.#server.listen(path);
    await once(this.#server, 'listening');
    chmodSync(path, 0o600);
  }

  /** Completes running requests. */
  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, type, text, headers } = await this.#handle(request).then(
      (reply) => ({ ...reply, headers: {} }),
      (error) => this.#toErrorReply(error),
    );
    response.writeHead(status, {
      ...headers,
      'content-type': `${type}; charset=utf-8`,
      'content-length': Buffer.byteLength(text),
      connection: 'close',
    });
    response.end(text);
    // Discards the rest of a body that is too large.
    request.resume();
  }

  async #handle(request: IncomingMessage): Promise<Reply> {
    const { method = '', url = '', headers } = request;
    const [pathname = '', search = ''] = url.split(/\?(.*)/s);
    const query = new URLSearchParams(search);
    if (method === 'POST' && pathname === '/api/alert') {
      const id = await this.#handlers.receiveAlert(await readBody(request, maxAlertBytes), headers);
      return { status: 200, type: 'application/json', text: JSON.stringify({ received: true, id }) };
    }
    const [, address, signal] = /^\/ping\/([^/]+)(?:\/([^/]+))?$/.exec(pathname) ?? [];
    if (address !== undefined && ['GET', 'HEAD', 'POST'].includes(method)) {
      const body = await readEnd(request, maxPingBytes);
      const isNew = await this.#handlers.receivePing({ address, signal, query, body });
      return { status: isNew ? 201 : 200, type: 'text/plain', text: 'OK' };
    }
    throw new HttpError('not-found', 'An agent accepts only POST /api/alert and /ping/NAME');
  }

  #toErrorReply(err: unknown): Reply & { headers: Readonly<Record<string, string>> } {
    const known = toHttpError(err);
    if (!known) this.#log.error({ err }, 'a request from a program on this machine failed');
    const { status, body, headers } = known ?? createInternalError('agent');
    return { status, type: 'application/json', text: JSON.stringify(body), headers };
  }
}

const readBody = async (request: IncomingMessage, limit: number): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > limit) throw new HttpError('too-large', `Request body is larger than ${limit / MiB} MiB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

/** Reads a body of any size. Resolves to the end of the body. */
const readEnd = async (request: IncomingMessage, length: number): Promise<Buffer> => {
  let end = Buffer.alloc(0);
  for await (const chunk of request as AsyncIterable<Buffer>) end = Buffer.concat([end, chunk]).subarray(-length);
  return end;
};
