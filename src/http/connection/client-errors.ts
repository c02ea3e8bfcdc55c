import type { Socket } from 'node:net';
import type { Headers } from '../response/common-headers.ts';
import { endWithAnswer, toRawAnswer } from './raw-response.ts';

interface ParserError {
  code?: string;
  /** The bytes in which the fault is, and how far they were understood. */
  rawPacket?: unknown;
  bytesParsed?: number;
}

/** What Node's parser reports, and the status that says it best; all else is 400. */
const statuses: Record<string, number> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_HEADER_OVERFLOW: 431,
  HPE_PAUSED_H2_UPGRADE: 505,
};

/** Our words where those of the status do not say enough. */
const errors: Record<number, string> = { 501: 'The method is not known', 505: 'HTTP/1.1 is spoken here' };

/** RFC 9112, 3: a request line with a method that is a token, whatever it says. */
const requestLine = /^[!#$%&'*+.^`|~\w-]+ \S+ HTTP\/1\.[01]\r\n/;

/** RFC 9112, 2.3: a version has two digits and ends the line. */
const version = / HTTP\/\d\.\d\r\n/;

/** Answers bytes that are no HTTP request, in JSON like every other refusal, and closes the connection. */
export const createClientErrorHandler = (
  headers: Headers,
): ((error: ParserError, socket: Socket) => void) => {
  const ended = new WeakSet<Socket>();
  return (error, socket) => {
    // The parser reports each further piece of what it has given up.
    if (ended.has(socket)) return;
    ended.add(socket);
    // What is no fault of the request, as a lost connection or a failed TLS handshake, leaves nobody to tell.
    if (!/^(?:HPE|ERR_HTTP)_/.test(String(error.code))) {
      socket.destroy();
      return;
    }
    // RFC 9112, 9.6: what a client sends after its own `Connection: close` is passed over.
    if (error.code === 'HPE_CLOSED_CONNECTION') return;
    const status = toStatus(error);
    endWithAnswer(socket, toRawAnswer(status, errors[status], headers));
  };
};

const toStatus = (error: ParserError): number => {
  const code = String(error.code);
  // RFC 9110, 9.1: 501 for a method that is not known.
  if (code === 'HPE_INVALID_METHOD') return requestLine.test(faultyLine(error)) ? 501 : 400;
  if (code === 'HPE_INVALID_VERSION') return version.test(faultyLine(error)) ? 505 : 400;
  return statuses[code] ?? 400;
};

/** The text from the line in which the fault is: other requests may have come in the same piece. */
const faultyLine = ({ rawPacket, bytesParsed = 0 }: ParserError): string => {
  const text = (rawPacket as Buffer).toString('latin1');
  const start = text.lastIndexOf('\n', Math.max(0, bytesParsed - 1)) + 1;
  return text.slice(start, text.indexOf('\n', start) + 1);
};
