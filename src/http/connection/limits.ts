/** What is bounded by settings. */
export interface Limits {
  /** Seconds that a whole request, and its headers, may take to arrive; the first also for an answer's reader. */
  requestTimeout: number;
  headersTimeout: number;
  /** Connections that are served at a time. */
  maxConnections: number;
  /** Milliseconds behind which the program refuses new requests; 0 for never. */
  maxEventLoopDelay: number;
}

const second = 1000;
const kibibyte = 1024;

/** Bounds that Fastify sets. */
export const toServerLimits = ({ requestTimeout }: Limits) => ({
  bodyLimit: 1024 * kibibyte,
  requestTimeout: requestTimeout * second,
  // Connections on which nothing moves are found in stalled.ts.
  connectionTimeout: 0,
  keepAliveTimeout: 10 * second,
  // An id of any length is answered as an id; Node bounds the whole request line.
  routerOptions: { maxParamLength: 16 * kibibyte },
  // A connection that is open when the end begins is still served, then closed.
  return503OnClosing: false,
  forceCloseConnections: 'idle' as const,
});

/** Bounds and strictness that Node is given itself. Stated here, no variable or flag of Node can loosen them. */
export const toNodeOptions = ({ requestTimeout, headersTimeout }: Limits) => ({
  requestTimeout: requestTimeout * second,
  headersTimeout: headersTimeout * second,
  // For TLS, whose handshake comes before any header.
  handshakeTimeout: headersTimeout * second,
  // How often the two are looked at: Node's own 30 s would close nothing in time.
  connectionsCheckingInterval: second,
  maxHeaderSize: 16 * kibibyte,
  insecureHTTPParser: false,
  // Node would answer without a body where Host is missing.
  requireHostHeader: false,
  // Two headers of one name become one that shows both; Node would drop the second Host.
  joinDuplicateHeaders: true,
});
