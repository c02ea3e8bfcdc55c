import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { type Check, createFramingCheck, createOriginCheck } from './admission.ts';
import { type Connection, type Connections, createPipelining } from './connections.ts';
import { writeError } from './error-response.ts';
import type { HttpError } from './errors.ts';
import { allowedMethods } from './limits.ts';
import { createBusyError, isVital } from './overload.ts';
import type { Timings } from './response.ts';

export interface ListenerOptions {
  /** Refuses requests for host names that are not served. */
  checkHost: Check;
  /** Whether pages of all origins may use the server. */
  cors: boolean;
  /** Whether the server itself speaks TLS. */
  secure: boolean;
  connections: Connections;
  /** Whether the event-loop delay exceeds its limit. */
  isLagging: () => boolean;
  timings: Timings;
}

type RequestListener = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Runs everything that precedes the routes, in this order: pipelining, framing, connection limit, overload, origin,
 * host, preflight. No route or hook sees a request that is refused here.
 */
export const listenWith = (server: Server, route: RequestListener, options: ListenerOptions): void => {
  const { checkHost, connections, isLagging, timings } = options;
  const waitForTurn = createPipelining();
  const checkFraming = createFramingCheck();
  const checkOrigin = options.cors ? () => undefined : createOriginCheck(options.secure);
  const checkLoad = ({ url = '' }: IncomingMessage, { isExtra }: Connection): HttpError | undefined => {
    const isLate = isLagging();
    if (!(isLate || isExtra) || isVital(url)) return undefined;
    return createBusyError(isLate ? 'event_loop_delay' : 'connections');
  };
  const begin = (request: IncomingMessage, response: ServerResponse, connection: Connection): void => {
    connection.response = response;
    if (request.headers['transfer-encoding'] !== undefined) response.once('finish', () => endIfUnread(request));
    // RFC 9112, 9.6: bytes after the last response of a connection are ignored.
    if (connection.isEnding) return;
    if (connection.isExtra) response.setHeader('connection', 'close');
    const refusal =
      checkFraming(request) ?? checkLoad(request, connection) ?? checkOrigin(request) ?? checkHost(request);
    if (refusal) {
      connection.isEnding = refusal.headers['connection'] === 'close';
      timings.noteShed(refusal.shed);
      writeError(response, refusal);
    } else if (request.method === 'OPTIONS' && (options.cors || request.url === '*')) {
      writePreflight(response, options.cors);
    } else {
      // Every body is read as JSON; Fastify chooses the parser by Content-Type.
      if (request.method !== 'GET') request.headers['content-type'] = 'application/json';
      route(request, response);
    }
  };
  const listen: RequestListener = (request, response) => {
    const connection = connections.get(request.socket);
    if (!connection) return;
    // A response gets its socket once the earlier ones are done.
    if (response.socket) begin(request, response, connection);
    else waitForTurn(connection, response, () => begin(request, response, connection));
  };
  // Without these listeners, Node would respond to expectations itself.
  for (const event of ['request', 'checkContinue', 'checkExpectation']) server.on(event, listen);
};

/** Milliseconds for a client to finish sending a body that nobody reads. */
const patience = 500;

/** Node would read the rest of a refused body to its end, however small its chunks are. */
const endIfUnread = (request: IncomingMessage): void => {
  if (!request.complete) setTimeout(() => request.complete || request.socket.destroy(), patience).unref();
};

/** Responds to a CORS preflight request and to `OPTIONS *` (RFC 9110, 9.3.7). */
const writePreflight = (response: ServerResponse, cors: boolean): void => {
  const headers: Record<string, string> = cors
    ? { 'access-control-allow-headers': 'Authorization, Content-Type' }
    : { allow: allowedMethods };
  response.writeHead(204, headers).end();
};
