import { type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Connections } from './connections.ts';
import { createInternalError, type ErrorKind, type ErrorReply, HttpError, toHttpError } from './errors.ts';
import type { Headers } from './response.ts';
import { toTrace } from './text-forms.ts';

/** Value of `Allow` for all methods of routes. */
export const allowedMethods = 'GET, HEAD, POST, PUT, DELETE';

/**
 * Converts an error to its response. This function alone decides what clients see. An error that is thrown repeatedly
 * is converted only once.
 */
const toMessage = (error: HttpError): ErrorReply => {
  if (error.sent) return error.sent;
  const text = JSON.stringify(error.body);
  const content = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(text)),
  };
  error.sent = { status: error.status, text, headers: { ...error.headers, ...content } };
  return error.sent;
};

/**
 * Formats the response as bytes for a socket that Node no longer handles. The connection is closed after the response.
 */
const toErrorBytes = (error: HttpError, common: Headers): string => {
  const { status, headers, text } = toMessage(error);
  const lines = Object.entries({ ...common, ...headers, connection: 'close' }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`;
};

/** Sends the error for a request that does not reach a route. */
export const writeError = (response: ServerResponse, error: HttpError): void => {
  const { status, headers, text } = toMessage(error);
  response.writeHead(status, headers).end(text);
};

/** Codes for a client that disconnected during the response. This is not a server error. */
const clientGone = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE']);

/** Sends the response for an error thrown by a route, and logs unexpected errors. */
export const sendError = (
  error: unknown,
  { id, raw }: FastifyRequest,
  reply: FastifyReply,
  log: FastifyBaseLogger,
): void => {
  const known = toHttpError(error);
  const unexpected = known ? known.cause : error;
  if (unexpected !== undefined && !clientGone.has(String((unexpected as NodeJS.ErrnoException).code))) {
    log.error({ err: unexpected, reqId: id, ...toTrace(raw.headers) }, 'request failed');
  }
  // Fastify closes the connection after every invalid body, although a body that was read to its end does no harm.
  if (!raw.complete && reply.hasHeader('connection')) reply.raw.setHeader('connection', 'close');
  // Skips Fastify's own steps. No hook needs them, and refusing must not cost more than serving.
  reply.hijack();
  writeError(reply.raw, known ?? createInternalError(id));
};

interface KnownPath {
  /** Path up to the first parameter. */
  prefix: string;
  pattern: RegExp;
  methods: Set<string>;
  /** True if other methods get a 404 instead of a 405. */
  hidden: boolean;
}

/** Route option. If set, other methods on the path get a 404 instead of a 405. */
export const hiddenMethods = 'hiddenMethods';

/**
 * Handles requests without a route: 405 with `Allow` on a known path, otherwise 404. Call it before routes are added.
 */
export const answerUnknownRoutes = (app: FastifyInstance): void => {
  const paths = new Map<string, KnownPath>();
  /** Paths with parameters. */
  const families: KnownPath[] = [];
  app.addHook('onRoute', ({ url, method, config }) => {
    let known = paths.get(url);
    if (!known) {
      const hidden = config !== undefined && hiddenMethods in config;
      known = { prefix: url.split(/[:*]/, 1).join(), pattern: toPattern(url), methods: new Set(), hidden };
      paths.set(url, known);
      if (known.prefix !== url) families.push(known);
    }
    for (const name of [method].flat()) known.methods.add(name);
  });
  app.setNotFoundHandler(({ url, method }, reply) => {
    // Matches like the router: decoded, and without query or fragment.
    const path = decodeURI(url.split(/[?#]/, 1).join());
    const found = families.filter(({ prefix, pattern }) => path.startsWith(prefix) && pattern.test(path));
    const known = [paths.get(path) ?? [], found].flat().filter(({ hidden }) => !hidden);
    const methods = new Set(known.flatMap((each) => [...each.methods]));
    // A route exists for this method, but not the static file that it would serve.
    const isUnknown = methods.size === 0 || methods.has(method);
    // Sent instead of thrown, because refusing must not cost more than serving.
    reply.send(isUnknown ? notFound : createMethodError([...methods].join(', ')));
  });
};

const notFound = new HttpError('not-found', 'Not found');

const createMethodError = (allow: string): HttpError =>
  new HttpError('method-not-allowed', 'Method not allowed', { headers: { allow } });

/**
 * Converts the path of a route to a regular expression: `/api/tasks/:id` → `^/api/tasks/[^/]*$`, `/docs/*` →
 * `^/docs/.*$`.
 */
const toPattern = (url: string): RegExp => {
  const escaped = url.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replace('*', '.*').replace(/:[^/]+/g, '[^/]*')}$`);
};

/** Milliseconds that a client gets to read the response before its connection is closed. */
const patience = 1000;

interface ParserError {
  code?: string;
  /** Bytes that contain the fault, and number of bytes parsed before it. */
  rawPacket?: unknown;
  bytesParsed?: number;
}

/** Kinds of errors, by the code of Node's parser. Any other code is `invalid`. */
const kinds: Record<string, ErrorKind> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'request-timeout',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'too-large',
  HPE_HEADER_OVERFLOW: 'headers-too-large',
  HPE_PAUSED_H2_UPGRADE: 'version-not-supported',
};

const messages: Partial<Record<ErrorKind, string>> = {
  'not-implemented': 'The method is unknown',
  'version-not-supported': 'This server supports only HTTP/1.1',
};

/** Form of a request line with any token as its method (RFC 9112, 3). */
const requestLine = /^[!#$%&'*+.^`|~\w-]+ \S+ HTTP\/1\.[01]\r\n/;

/** Form of a version: two digits at the end of the line (RFC 9112, 2.3). */
const version = / HTTP\/\d\.\d\r\n/;

/** Creates the handler for bytes that are not valid HTTP. It sends an error and closes the connection. */
export const createClientErrorHandler = (connections: Connections, common: Headers) => {
  const ended = new WeakSet<Socket>();
  return (error: ParserError, socket: Socket): void => {
    // The parser reports every further piece after the first fault.
    if (ended.has(socket)) return;
    ended.add(socket);
    // After a lost connection or a failed TLS handshake, nobody would receive a response.
    if (!/^(?:HPE|ERR_HTTP)_/.test(String(error.code))) {
      socket.destroy();
      return;
    }
    // RFC 9112, 9.6: bytes after the client's own `Connection: close` are ignored.
    if (error.code === 'HPE_CLOSED_CONNECTION') return;
    const kind = toKind(error);
    endWith(socket, toErrorBytes(new HttpError(kind, messages[kind]), common), connections);
  };
};

/** Refuses CONNECT, because only proxies need it. Node hands over the socket without sending a response. */
export const refuseConnect = (server: Server, connections: Connections, common: Headers): void => {
  const refusal = toErrorBytes(createMethodError(allowedMethods), common);
  server.on('connect', (_request, socket) => {
    // Node no longer handles this socket, so an error without a listener would end the process.
    socket.on('error', () => socket.destroy());
    socket.resume();
    // Node has removed its own listener. Without this one, a response that is still being sent would hang.
    socket.on('drain', () => connections.get(socket as Socket)?.response?.emit('drain'));
    endWith(socket as Socket, refusal, connections);
  });
};

const toKind = (error: ParserError): ErrorKind => {
  const code = String(error.code);
  // RFC 9110, 9.1: 501 for an unknown method.
  if (code === 'HPE_INVALID_METHOD' && requestLine.test(findFaultyLine(error))) return 'not-implemented';
  if (code === 'HPE_INVALID_VERSION' && version.test(findFaultyLine(error))) return 'version-not-supported';
  return kinds[code] ?? 'invalid';
};

/** Finds the line with the fault. Other requests may have arrived in the same chunk. */
const findFaultyLine = ({ rawPacket, bytesParsed = 0 }: ParserError): string => {
  const text = (rawPacket as Buffer).toString('latin1');
  const start = text.lastIndexOf('\n', Math.max(0, bytesParsed - 1)) + 1;
  return text.slice(start, text.indexOf('\n', start) + 1);
};

/**
 * Sends a response after the responses to all earlier requests, then closes the connection. Sends nothing if a response
 * to this request has already begun.
 */
const endWith = (socket: Socket, response: string, connections: Connections): void => {
  const last = connections.get(socket)?.response;
  const isDone = last === undefined || last.writableFinished;
  if (!isDone && (last.req.complete || last.writableEnded)) {
    last.once('close', () => endWith(socket, response, connections));
    return;
  }
  if ((!isDone && last.headersSent) || !socket.writable) {
    socket.destroy();
    return;
  }
  // RFC 9112, 9.6: closing immediately could lose the response while the client is still sending.
  socket.end(isDone && last?.req.complete === false ? '' : response);
  setTimeout(() => socket.destroy(), patience).unref();
};
