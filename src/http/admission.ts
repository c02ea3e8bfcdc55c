import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { isLoopback } from '../lib/loopback.ts';
import { overrideContentType } from './body.ts';
import { type Connections, createPipelining, type HttpConnection } from './connections.ts';
import { allowedMethods, writeError } from './error-response.ts';
import { createFatal, HttpError } from './errors.ts';
import { createBusyError } from './overload.ts';
import type { Timings } from './response.ts';

/** Returns the error for a request that must not reach a route. Undefined for an acceptable request. */
export type Check = (request: IncomingMessage) => HttpError | undefined;

/** Maximum number of header lines in a request. Their total size is limited separately. */
export const maximumHeaderLines = 200;

/** Code of `/`. Every target begins with this character, except absolute URIs, `*` and authorities. */
const slash = 47;

/**
 * Form of a host: a name or a bracketed address, and a port. RFC 3986, 3.2.2 and 3.2.3, without characters that are
 * invalid in host names.
 */
const hostForm = /^(?:[\w.~!$&'()*+;=%-]+|\[[\da-f:.]+\])(?::\d*)?$/i;

const absoluteForm = /^https?:\/\/([^/?#]*)(\/[^#]*)?$/i;

/**
 * Creates the check for messages that Node's parser accepts although HTTP/1.1 forbids them: other versions, and
 * ambiguous hosts, codings and targets. If the server and a proxy read such a request differently, a second request can
 * be smuggled past the proxy. Repeated headers must arrive joined (`joinDuplicateHeaders`), so that a second Host makes
 * the header invalid.
 */
const createFramingCheck = (): Check => {
  // Nearly every request has the same Host as the previous one.
  let lastHost: string | undefined;
  return (request) => {
    const { httpVersion, headers, rawHeaders, url = '' } = request;
    if (httpVersion !== '1.1' && httpVersion !== '1.0') return refuseVersion(request);
    if (rawHeaders.length > 2 * maximumHeaderLines) {
      return createFatal('headers-too-large', `A request must not have more than ${maximumHeaderLines} header lines`);
    }
    if (headers.host === undefined || headers.host !== lastHost) {
      const fault = findHostFault(request);
      if (fault) return fault;
      lastHost = headers.host;
    }
    const coding = headers['transfer-encoding'];
    if (coding !== undefined) {
      const fault = findCodingFault(request, coding.toLowerCase());
      if (fault) return fault;
    }
    if (headers.expect !== undefined && httpVersion === '1.1' && !/^100-continue$/i.test(headers.expect)) {
      return createFatal('expectation-failed', 'The header Expect must be 100-continue');
    }
    if (url.charCodeAt(0) !== slash) return readOtherTarget(request, url);
    return url.includes('#') ? createFatal('invalid', 'The request target must not have a fragment') : undefined;
  };
};

/**
 * Refuses a request line without a version (RFC 9112, 2.3). For such a line, the parser assumes HTTP/0.9. That version
 * had no headers.
 */
const refuseVersion = ({ httpVersion, headers }: IncomingMessage): HttpError =>
  httpVersion === '0.9' && headers.host === undefined
    ? createFatal('invalid', 'The request line has no HTTP version')
    : createFatal('version-not-supported', 'This server supports only HTTP/1.1');

/** Finds a violation of RFC 9112, 3.2. There must be exactly one valid Host. Only HTTP/1.0 may omit it. */
const findHostFault = ({ httpVersion, headers: { host } }: IncomingMessage): HttpError | undefined => {
  if (host === undefined) {
    return httpVersion === '1.0' ? undefined : createFatal('invalid', 'The header Host is missing');
  }
  return hostForm.test(host) ? undefined : createFatal('invalid', 'The header Host must name one host');
};

/**
 * Finds a violation of RFC 9112, 6.1. HTTP/1.0 has no coding, and unknown codings get 501. With `Upgrade`, Node's
 * parser reports no errors in the chunks, so the request would hang until its timeout.
 */
const findCodingFault = (
  { httpVersion, headers: { upgrade } }: IncomingMessage,
  coding: string,
): HttpError | undefined => {
  if (httpVersion === '1.0' || coding === '') {
    return createFatal('invalid', 'Transfer-Encoding is not allowed in this request');
  }
  if (coding !== 'chunked') return createFatal('not-implemented', 'The only supported transfer coding is chunked');
  return upgrade === undefined ? undefined : createFatal('invalid', 'Upgrade and Transfer-Encoding cannot be combined');
};

/**
 * Reads a target that is not a path (RFC 9112, 3.2.2 and 3.2.4). The host of an absolute target replaces Host. Only
 * OPTIONS may have the target `*`.
 */
const readOtherTarget = (request: IncomingMessage, url: string): HttpError | undefined => {
  if (url === '*' && request.method === 'OPTIONS') return undefined;
  const [, host = '', path = '/'] = absoluteForm.exec(url) ?? [];
  if (!hostForm.test(host)) return createFatal('invalid', 'The request target is not valid for this method');
  request.headers.host = host;
  request.url = path;
  return undefined;
};

interface HostNames {
  /** Address that the server is bound to. */
  boundTo: string;
  /** Name of this machine. */
  machine: string;
  /** Names that the settings allow. */
  allowed: readonly string[];
}

/**
 * Creates the check that refuses requests for host names that do not belong to this server. Otherwise, a web page could
 * reach the server by pointing the page's own name at 127.0.0.1 (DNS rebinding). A server bound beyond loopback checks
 * hosts only if `allowed` has names.
 */
export const createHostCheck = ({ boundTo, machine, allowed }: HostNames): Check => {
  const isLocal = isLoopback(boundTo);
  if (!isLocal && allowed.length === 0) return () => undefined;
  const names = new Set([...allowed, ...(isLocal ? [machine] : [])].map(toPlainName));
  const isServed = (name: string): boolean => names.has(name) || (isLocal && isLoopback(name));
  // Nearly every request has the same Host as the previous one.
  let lastHost: string | undefined;
  return ({ headers: { host = '' } }) => {
    if (host === lastHost) return undefined;
    if (!isServed(toHostName(host))) return foreignHost;
    lastHost = host;
    return undefined;
  };
};

const foreignHost = new HttpError(
  'forbidden',
  'This host name is not allowed: add the name to the setting allowedHosts',
);

/** Returns the host name in a Host header: `[::1]:8080` → `::1`, `Example.org:80` → `example.org`. */
const toHostName = (host: string): string => {
  const name = toPlainName(host.replace(/:\d*$/, ''));
  return name.startsWith('[') && name.endsWith(']') ? name.slice(1, -1) : name;
};

/** Returns the name in lower case, without the trailing dot of a fully qualified name. */
const toPlainName = (name: string): string => name.toLowerCase().replace(/\.$/, '');

/**
 * Paths of pages that other sites and mails may link to. Includes acknowledgement links and status pages below any
 * mount.
 */
const page =
  /^\/(?:(?:docs|console)(?:\/|$)|$|(?:.+\/)?(?:api\/acknowledge\/[^/]+|status\/[^/]+(?:\/subscribe(?:\/[^/]+)?)?)$)/;

/**
 * Creates the check that refuses requests that a browser sends on behalf of a page from another origin, so that a
 * foreign page cannot act for its user. Following a link to a page is allowed. `secure` means that this server speaks
 * TLS. Otherwise, a proxy in front of it may.
 */
const createOriginCheck =
  (secure: boolean): Check =>
  (request) => {
    const { headers } = request;
    const site = headers['sec-fetch-site'];
    if (site !== undefined && site !== 'same-origin' && site !== 'none' && !isNavigation(request)) {
      return foreignOrigin;
    }
    const { origin } = headers;
    if (origin === undefined || isOwnOrigin(origin, headers.host, secure)) return undefined;
    // The browser considers this a single origin, so a proxy has changed Host.
    return site === 'same-origin' ? changedHost : foreignOrigin;
  };

const foreignOrigin = new HttpError(
  'forbidden',
  'Requests from web pages of other origins are refused: to allow them, turn on the setting cors',
);

const changedHost = new HttpError(
  'forbidden',
  'The proxy has changed the header Host: configure the proxy to pass Host unchanged, and add the host name to allowedHosts',
);

const isNavigation = ({ method, url = '', headers }: IncomingMessage): boolean =>
  method === 'GET' && headers['sec-fetch-mode'] === 'navigate' && page.test(url.split('?', 1)[0] ?? '');

const isOwnOrigin = (origin: string, ownHost: string | undefined, secure: boolean): boolean => {
  if (!URL.canParse(origin)) return false;
  const { protocol, host } = new URL(origin);
  return host === toUrlHost(`${protocol}//${ownHost}`) && !(secure && protocol !== 'https:');
};

/** Returns the host of a URL in lower case, without the default port. */
const toUrlHost = (url: string): string | undefined => (URL.canParse(url) ? new URL(url).host : undefined);

export interface ListenerOptions {
  /** Refuses requests for host names that this server does not serve. */
  checkHost: Check;
  /** True if pages from any origin may use the API (CORS). */
  cors: boolean;
  /** True if the server itself speaks TLS. */
  secure: boolean;
  connections: Connections;
  /** True while the event-loop delay exceeds its limit. */
  isLagging: () => boolean;
  /** True for a health check. Health checks must work even during overload. */
  isVital: (request: IncomingMessage) => boolean;
  timings: Timings;
}

type RequestListener = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Runs all checks before the routes, in this order: pipelining, framing, connection limit, overload, origin, host,
 * preflight. No route or hook sees a refused request.
 */
export const listenWith = (server: Server, route: RequestListener, options: ListenerOptions): void => {
  const { checkHost, connections, cors, isLagging, isVital, timings } = options;
  const waitForTurn = createPipelining();
  const checkFraming = createFramingCheck();
  const checkOrigin = cors ? () => undefined : createOriginCheck(options.secure);
  const checkLoad = (request: IncomingMessage, { isExtra }: HttpConnection): HttpError | undefined => {
    const isLate = isLagging();
    if (!(isLate || isExtra) || isVital(request)) return undefined;
    return createBusyError(isLate ? 'event_loop_delay' : 'connections');
  };
  const begin = (request: IncomingMessage, response: ServerResponse, connection: HttpConnection): void => {
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
    } else if (request.method === 'OPTIONS' && (cors || request.url === '*')) {
      // A CORS preflight request, or `OPTIONS *` (RFC 9110, 9.3.7).
      response
        .writeHead(204, { ...(cors && corsHeaders), ...(request.url === '*' && { allow: allowedMethods }) })
        .end();
    } else {
      overrideContentType(request);
      route(request, response);
    }
  };
  const listen: RequestListener = (request, response) => {
    const connection = connections.get(request.socket);
    if (!connection) return;
    // A response gets its socket only when the earlier responses are finished.
    if (response.socket) begin(request, response, connection);
    else waitForTurn(connection, response, () => begin(request, response, connection));
  };
  // Without these listeners, Node would itself respond to expectations.
  for (const event of ['request', 'checkContinue', 'checkExpectation']) server.on(event, listen);
};

const corsHeaders = { 'access-control-allow-headers': 'Authorization, Content-Type' };

/** Milliseconds that a client gets to finish sending a body that is not read. */
const unreadBodyMs = 500;

/** Stops reading the body of a refused request. Node would read it to its end, however small its chunks are. */
const endIfUnread = (request: IncomingMessage): void => {
  if (!request.complete) setTimeout(() => request.complete || request.socket.destroy(), unreadBodyMs).unref();
};
