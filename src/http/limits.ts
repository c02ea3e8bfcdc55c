const second = 1000;
const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;

/** Methods of routes. */
export const allowedMethods = 'GET, HEAD, POST, PUT, DELETE';

/** Limits from the settings. */
export interface Limits {
  /** Seconds for a whole request, and for its headers, to arrive; the first also limits clients that stop reading. */
  requestTimeout: number;
  headersTimeout: number;
  /** Connections served at a time. */
  maxConnections: number;
  /** Event-loop delay in milliseconds above which new requests are refused; 0 means no limit. */
  maxEventLoopDelay: number;
}

/** Connections beyond `maxConnections` that get 503; further ones are closed at once. */
export const spareConnections = 100;

export const maximumBodyBytes = mebibyte;

/** Bytes of incomplete request bodies, over all connections. */
export const unfinishedBodyBytes = 64 * mebibyte;

/** Bytes of unread responses, over all connections, above which large responses are refused. */
export const unreadResponseBytes = 64 * mebibyte;

/** Characters or bytes from which a response counts as large. */
export const largeLength = 64 * kibibyte;

/** Bytes counted as unread for each list being sent: it builds some pieces ahead. */
export const listBytes = 256 * kibibyte;

/** Header lines of a request; their size is limited separately. */
export const maximumHeaderLines = 200;

/** Pipelined requests that may wait for an earlier one, on one connection and in total. */
export const waitingRequests = { perConnection: 500, inTotal: 10_000 };

/** Reading from a connection pauses while more requests than this wait on it. */
export const waitingBeforePause = 8;
export const waitingInTotalBeforePause = 1000;

/** Limits that Fastify sets. */
export const fastifyLimits = {
  // Ids of any length reach their route; Node limits the whole request line.
  routerOptions: { maxParamLength: 16 * kibibyte },
  // Connections that are open when shutdown begins are still served, then closed.
  return503OnClosing: false,
  forceCloseConnections: 'idle' as const,
};

/** Limits and strictness of Node's server, set explicitly: no variable or flag of Node can loosen them. */
export const toNodeOptions = ({ requestTimeout, headersTimeout }: Limits) => ({
  requestTimeout: requestTimeout * second,
  headersTimeout: headersTimeout * second,
  // With TLS, the handshake precedes the headers.
  handshakeTimeout: headersTimeout * second,
  keepAliveTimeout: 10 * second,
  // How often the timeouts are checked; Node's default of 30 s would be too late.
  connectionsCheckingInterval: second,
  maxHeaderSize: 16 * kibibyte,
  insecureHTTPParser: false,
  // Node's own response to a missing Host has no body.
  requireHostHeader: false,
  // Repeated headers are joined; by default Node drops a second Host.
  joinDuplicateHeaders: true,
});

/** How long a connection may stall, in milliseconds: while its client reads nothing, and while nothing happens. */
export const toPatience = ({ requestTimeout }: Pick<Limits, 'requestTimeout'>) => ({
  reading: requestTimeout * second,
  silence: 60 * second,
});

export type Patience = ReturnType<typeof toPatience>;
