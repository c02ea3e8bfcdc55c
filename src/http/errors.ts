import { STATUS_CODES } from 'node:http';
import Type from 'typebox';
import { ExpectedError, RepeatRefusal, StoreConflict, StoreUnavailable, ValueRefusal } from '../lib/expected-errors.ts';

/** Body of every error response. */
export const ErrorBody = Type.Object({ error: Type.String({ examples: ['Missing token'] }) }, { title: 'ErrorBody' });

/** Kinds of refusals and their HTTP statuses. */
const statusOf = {
  invalid: 400,
  unauthorized: 401,
  forbidden: 403,
  'not-found': 404,
  'method-not-allowed': 405,
  'request-timeout': 408,
  'wrong-state': 409,
  gone: 410,
  conflict: 412,
  'too-large': 413,
  'unsupported-media-type': 415,
  'range-not-satisfiable': 416,
  'expectation-failed': 417,
  unprocessable: 422,
  'too-many': 429,
  'headers-too-large': 431,
  failed: 500,
  'not-implemented': 501,
  unavailable: 503,
  'version-not-supported': 505,
} as const;

export type ErrorKind = keyof typeof statusOf;

/** Resources with limits that cause refusals under load. */
export const shedReasons = [
  'connections',
  'event_loop_delay',
  'unfinished_bodies',
  'unread_responses',
  'queue',
  'streams',
] as const;
export type ShedReason = (typeof shedReasons)[number];

interface ErrorExtras {
  /** Response headers by lower-case name, e.g. `allow` or `retry-after`. */
  headers?: Record<string, string>;
  /** Additional members of the body, e.g. `detail`. `leading` members come before `error`, and `members` after it. */
  members?: Record<string, unknown>;
  leading?: Record<string, unknown>;
  /** Unexpected error that led to `failed`, for the log. */
  cause?: unknown;
  /** True if the body is only the message, as a JSON string, for clients that do not expect an object. */
  isBare?: boolean;
  /** Set if the request was refused because of load. */
  shed?: ShedReason | undefined;
}

/** Error as sent to the client. */
export interface ErrorReply {
  status: number;
  headers: Readonly<Record<string, string>>;
  text: string | Buffer;
}

/**
 * Error that may be thrown anywhere below the listener. It becomes a response with the status of its kind and `{error:
 * message}`.
 */
export class HttpError extends ExpectedError {
  readonly kind: ErrorKind;
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Record<string, unknown> | string;
  readonly shed: ShedReason | undefined;
  /** Form in which the error is sent. Set when it is first sent. */
  sent: ErrorReply | undefined;

  constructor(
    kind: ErrorKind,
    message: string = STATUS_CODES[statusOf[kind]] ?? '',
    { headers = {}, members = {}, leading = {}, cause, isBare = false, shed }: ErrorExtras = {},
  ) {
    super(message, { cause });
    this.kind = kind;
    this.status = statusOf[kind];
    // RFC 9110, 15.5.2: every 401 must name a scheme that would be accepted.
    this.headers = kind === 'unauthorized' ? { 'www-authenticate': 'Bearer', ...headers } : headers;
    this.shed = shed;
    this.body = isBare ? message : { ...leading, error: message, ...members };
  }

  /** Returns this error with a body that is not JSON. */
  writtenAs(mediaType: string, bytes: Buffer): HttpError {
    const { kind, message, status, headers, cause, shed } = this;
    const error = new HttpError(kind, message, { headers, cause, shed });
    const content = { 'content-type': mediaType, 'content-length': String(bytes.length) };
    error.sent = { status, text: bytes, headers: { ...headers, ...content } };
    return error;
  }
}

/**
 * Returns a thing named by a path. If the thing is undefined, throws a 404 that names the path of the list of such
 * things.
 */
export const requireKnown = <T>(known: T | undefined, kind: string, name: string, listed: string): T => {
  if (known !== undefined) return known;
  throw new HttpError('not-found', `${kind} ${name.slice(0, 100)} not found: GET ${listed} lists the existing names`);
};

/** Creates a 503 that means: nothing was done, and the client may retry in a second. */
export const createUnavailable = (message: string, shed?: ShedReason): HttpError =>
  new HttpError('unavailable', message, { headers: { 'retry-after': '1' }, shed });

/** Creates an error that closes the connection, because nothing else on the connection can be trusted. */
export const createFatal = (kind: ErrorKind, message?: string): HttpError =>
  new HttpError(kind, message, { headers: { connection: 'close' } });

/**
 * Converts a thrown value to the error that is sent to the client. Returns undefined for an unexpected error. Such an
 * error becomes a 500 that reveals no internals.
 */
export const toHttpError = (error: unknown): HttpError | undefined => {
  if (error instanceof HttpError) return error;
  if (error instanceof StoreUnavailable) return createUnavailable(error.message);
  if (error instanceof StoreConflict) {
    return new HttpError('conflict', error.message, { headers: { etag: `"${error.version}"` } });
  }
  if (error instanceof ValueRefusal) return new HttpError('invalid', error.message);
  if (error instanceof RepeatRefusal) return new HttpError('unprocessable', error.message);
  const { statusCode = 500, code = '' } = error as { statusCode?: number; code?: string };
  const kind = kindOf.get(statusCode);
  return kind && statusCode < 500 ? new HttpError(kind, messages[code] ?? messages[kind]) : undefined;
};

/** Creates a 500 with the request id. The log contains the same id. */
export const createInternalError = (requestId: string): HttpError =>
  new HttpError('failed', 'Internal server error', { members: { requestId } });

/** Kinds of errors, by status. An unreadable static file gets a 404. */
const kindOf = new Map<number, ErrorKind>([
  ...Object.entries(statusOf).map(([kind, status]) => [status, kind as ErrorKind] as const),
  [403, 'not-found'],
]);

/** Messages for errors of Fastify and its plugins, by code or kind. */
const messages: Record<string, string> = {
  'not-found': 'Not found',
  FST_ERR_BAD_URL: 'The path of the request is not valid percent-encoding',
};
