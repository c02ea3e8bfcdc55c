const second = 1000;
const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;

/** Methods of routes. */
export const allowedMethods = 'GET, HEAD, POST, PUT, DELETE';

/** What the settings limit. */
export interface Limits {
  /** Seconds in which a whole request, and its headers, must arrive; the first also limits a response's reader. */
  requestTimeout: number;
  headersTimeout: number;
  /** Connections that are served at a time. */
  maxConnections: number;
  /** Milliseconds of event-loop delay past which new requests are refused; 0 for never. */
  maxEventLoopDelay: number;
}

/** Connections past `maxConnections` that get a 503; any beyond these are closed at once. */
export const spareConnections = 100;

export const maximumBodyBytes = mebibyte;

/** Bytes of bodies that have not arrived whole, over all connections. */
export const unfinishedBodyBytes = 64 * mebibyte;

/** Bytes of responses that wait for their readers, over all connections, past which large responses are refused. */
export const unreadResponseBytes = 64 * mebibyte;

/** Characters or bytes from which on a response is large. */
export const largeLength = 64 * kibibyte;

/** What a list that is being sent counts as in these: it makes some pieces ahead, before anything waits. */
export const listBytes = 256 * kibibyte;

/** Header lines of a request; their size has a limit of its own. */
export const maximumHeaderLines = 200;

/** Requests that may wait on one connection, and on all of them, for the one before to be answered. */
export const waitingRequests = { perConnection: 500, inTotal: 10_000 };

/** A connection is not read from while more requests than this wait on it. */
export const waitingBeforePause = 8;
export const waitingInTotalBeforePause = 1000;

/** Limits that Fastify sets. */
export const fastifyLimits = {
  // An id of any length is answered as an id; Node limits the whole request line.
  routerOptions: { maxParamLength: 16 * kibibyte },
  // A connection that is open when shutdown begins is still served, then closed.
  return503OnClosing: false,
  forceCloseConnections: 'idle' as const,
};

/** Limits and strictness of Node's server, stated so that no variable or flag of Node can loosen them. */
export const toNodeOptions = ({ requestTimeout, headersTimeout }: Limits) => ({
  requestTimeout: requestTimeout * second,
  headersTimeout: headersTimeout * second,
  // For TLS, whose handshake comes before any header.
  handshakeTimeout: headersTimeout * second,
  keepAliveTimeout: 10 * second,
  // How often the timeouts are checked: Node's own 30 s would close nothing in time.
  connectionsCheckingInterval: second,
  maxHeaderSize: 16 * kibibyte,
  insecureHTTPParser: false,
  // Node would answer a missing Host without a body.
  requireHostHeader: false,
  // Repeated headers become one that shows both; Node would drop the second Host.
  joinDuplicateHeaders: true,
});

/** How long a connection may stand still, in milliseconds: while its client reads nothing, and while nothing runs. */
export const toPatience = ({ requestTimeout }: Pick<Limits, 'requestTimeout'>) => ({
  reading: requestTimeout * second,
  silence: 60 * second,
});

export type Patience = ReturnType<typeof toPatience>;
