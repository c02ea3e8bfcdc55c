import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import { createInternalError, type ErrorMessage, type HttpError, toHttpError } from './errors.ts';
import { toTrace } from './request-headers.ts';
import type { Headers } from './response.ts';

/** An error as a response: the only place that decides what a client sees. */
const toMessage = ({ status, headers, body }: HttpError): ErrorMessage => {
  const text = JSON.stringify(body);
  const length = String(Buffer.byteLength(text));
  return {
    status,
    text,
    headers: { ...headers, 'content-type': 'application/json; charset=utf-8', 'content-length': length },
  };
};

/** Errors that are thrown again and again are converted once. */
const getMessage = (error: HttpError): ErrorMessage => {
  error.sent ??= toMessage(error);
  return error.sent;
};

/** The response as bytes, for a socket that Node no longer handles. The connection closes after it. */
export const toErrorBytes = (error: HttpError, common: Headers): string => {
  const { status, headers, text } = getMessage(error);
  const lines = Object.entries({ ...common, ...headers, connection: 'close' }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`;
};

/** Sends the error for a request that reaches no route. */
export const writeError = (response: ServerResponse, error: HttpError): void => {
  const { status, headers, text } = getMessage(error);
  response.writeHead(status, headers).end(text);
};

/** The client disconnected during the response; not an error of the server. */
const clientGone = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE']);

/** Sends the response for an error thrown by a route; logs unexpected ones. */
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
  // Fastify closes the connection after every invalid body; one that was read to its end does no harm.
  if (!raw.complete && reply.hasHeader('connection')) reply.raw.setHeader('connection', 'close');
  // Past Fastify's own steps, which no hook needs: refusing costs no more than serving.
  reply.hijack();
  writeError(reply.raw, known ?? createInternalError(id));
};
