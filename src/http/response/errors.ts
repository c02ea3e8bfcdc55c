import { STATUS_CODES } from 'node:http';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** The closed set of reasons for which a request is refused, and the status each is answered with. */
const statusOf = {
  invalid: 400,
  unauthorized: 401,
  forbidden: 403,
  'not-found': 404,
  'method-not-allowed': 405,
  'too-large': 413,
  'expectation-failed': 417,
  'too-many': 429,
  failed: 500,
  'not-implemented': 501,
  unavailable: 503,
  'version-not-supported': 505,
} as const;

export type ErrorKind = keyof typeof statusOf;

interface ErrorExtras {
  /** Response headers, e.g. `Allow` or `Retry-After`. */
  headers?: Record<string, string>;
  /** Members beside `error` in the body, e.g. `detail`. They come after `error`, `leading` ones before it. */
  members?: Record<string, unknown>;
  leading?: Record<string, unknown>;
}

/** Thrown anywhere below a route: answered with the kind's status and `{error: message}`. */
export class HttpError extends Error {
  readonly kind: ErrorKind;
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Record<string, unknown>;

  constructor(
    kind: ErrorKind,
    message: string,
    { headers = {}, members = {}, leading = {} }: ErrorExtras = {},
  ) {
    super(message);
    this.kind = kind;
    this.status = statusOf[kind];
    // RFC 9110, 15.5.2: every 401 names the scheme that would be accepted.
    this.headers = kind === 'unauthorized' ? { 'WWW-Authenticate': 'Bearer', ...headers } : headers;
    this.body = { ...leading, error: message, ...members };
  }
}

/** Makes every error of the app JSON `{error}`; what is not foreseen becomes a 500 that shows no internals. */
export const handleErrors = (app: FastifyInstance): void => {
  app.setErrorHandler((error: FastifyError, request, reply) => sendError(error, request, reply));
};

/** Answers `error`; also used where Fastify has no route yet (a URL that cannot be decoded). */
export const sendError = (
  error: FastifyError | HttpError,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply => {
  if (error instanceof HttpError) return reply.code(error.status).headers(error.headers).send(error.body);
  const { statusCode = 500, code } = error;
  if (statusCode < 500) {
    // A static file that may not be read is one that is not there.
    if (statusCode === 403 || statusCode === 404) return reply.code(404).send({ error: 'Not found' });
    return reply.code(statusCode).send({ error: texts[code] ?? STATUS_CODES[statusCode] });
  }
  request.log.error({ err: error }, 'request failed');
  return reply.code(500).send({ error: 'Internal server error', requestId: request.id });
};

/** Our words for what Fastify refuses. */
const texts: Record<string, string> = {
  FST_ERR_BAD_URL: 'The path of the request cannot be decoded',
  FST_ERR_CTP_BODY_TOO_LARGE: 'Request body is larger than 1 MiB',
};
