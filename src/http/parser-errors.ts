import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Connections } from './connections.ts';
import { toErrorBytes } from './error-response.ts';
import { type ErrorKind, HttpError } from './errors.ts';
import { allowedMethods } from './limits.ts';
import type { Headers } from './response.ts';

/** Milliseconds for a client to read the response before its connection is closed. */
const patience = 1000;

interface ParserError {
  code?: string;
  /** The bytes with the fault, and how many of them were parsed. */
  rawPacket?: unknown;
  bytesParsed?: number;
}

/** Kinds of error by the codes of Node's parser; any other code is `invalid`. */
const kinds: Record<string, ErrorKind> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'request-timeout',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'too-large',
  HPE_HEADER_OVERFLOW: 'headers-too-large',
  HPE_PAUSED_H2_UPGRADE: 'version-not-supported',
};

const messages: Partial<Record<ErrorKind, string>> = {
  'not-implemented': 'The method is unknown',
  'version-not-supported': 'This server speaks HTTP/1.1',
};

/** RFC 9112, 3: a request line with any token as its method. */
const requestLine = /^[!#$%&'*+.^`|~\w-]+ \S+ HTTP\/1\.[01]\r\n/;

/** RFC 9112, 2.3: a version has two digits and ends the line. */
const version = / HTTP\/\d\.\d\r\n/;

/** Creates the handler for bytes that are not valid HTTP: it sends an error and closes the connection. */
export const createClientErrorHandler = (connections: Connections, common: Headers) => {
  const ended = new WeakSet<Socket>();
  return (error: ParserError, socket: Socket): void => {
    // The parser reports each further piece after the first fault.
    if (ended.has(socket)) return;
    ended.add(socket);
    // After a lost connection or a failed TLS handshake, nobody would receive a response.
    if (!/^(?:HPE|ERR_HTTP)_/.test(String(error.code))) {
      socket.destroy();
      return;
    }
    // RFC 9112, 9.6: bytes behind the client's own `Connection: close` are ignored.
    if (error.code === 'HPE_CLOSED_CONNECTION') return;
    const kind = toKind(error);
    endWith(socket, toErrorBytes(new HttpError(kind, messages[kind]), common), connections);
  };
};

/** Refuses CONNECT, which is for proxies: Node hands over the socket without a response. */
export const refuseConnect = (server: Server, connections: Connections, common: Headers): void => {
  const headers = { allow: allowedMethods };
  const refusal = toErrorBytes(new HttpError('method-not-allowed', 'Method not allowed', { headers }), common);
  server.on('connect', (_request, socket) => {
    // Node no longer handles this socket: an error without a listener would end the process.
    socket.on('error', () => socket.destroy());
    socket.resume();
    // Node has removed its own listener: without this one, a response that is still being sent would hang.
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

/** The line with the fault: other requests may have arrived in the same chunk. */
const findFaultyLine = ({ rawPacket, bytesParsed = 0 }: ParserError): string => {
  const text = (rawPacket as Buffer).toString('latin1');
  const start = text.lastIndexOf('\n', Math.max(0, bytesParsed - 1)) + 1;
  return text.slice(start, text.indexOf('\n', start) + 1);
};

/**
 * Sends a response after those to all earlier requests, then closes the connection. Sends nothing if a response to the
 * same request has begun.
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
  // RFC 9112, 9.6: if the connection closed at once while the client still sends, the response could be lost.
  socket.end(isDone && last?.req.complete === false ? '' : response);
  setTimeout(() => socket.destroy(), patience).unref();
};
