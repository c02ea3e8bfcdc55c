import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Headers } from '../response/common-headers.ts';

/** Milliseconds that a client has to read the answer before its connection is cut. */
const patience = 1000;

/** As Node's own handler of bad requests does: the answer that the socket is at, if any. */
interface HttpSocket extends Socket {
  _httpMessage?: ServerResponse | null;
}

/** A whole answer with a JSON error, as the bytes that go over the wire; the connection ends with it. */
export const toRawAnswer = (status: number, error: string | undefined, headers: Headers): string => {
  const reason = STATUS_CODES[status];
  const body = JSON.stringify({ error: error ?? reason });
  const lines = Object.entries({
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${reason}\r\n${lines.join('')}\r\n${body}`;
};

/**
 * Ends the connection with an answer, once every request before it on the same connection has its own. Nothing is sent
 * where an answer to the same request is already on its way.
 */
export const endWithAnswer = (socket: HttpSocket, answer: string): void => {
  const current = socket._httpMessage;
  if (current?.req.complete) {
    current.once('close', () => endWithAnswer(socket, answer));
    return;
  }
  if (current?.headersSent || !socket.writable) {
    socket.destroy();
    return;
  }
  // RFC 9112, 9.6: closed at once, the answer could be lost behind what the client still sends.
  socket.end(answer);
  setTimeout(() => socket.destroy(), patience).unref();
};
