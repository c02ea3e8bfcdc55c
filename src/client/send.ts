import { parseRetryAfter } from './retry-after.ts';
import type { CallOptions, ClientFailure, HeaderOptions } from './types.ts';

/** Source of tokens for requests. */
export interface HeldTokens {
  /** Returns the token to send. Undefined to send none. `isNeeded`: the route refuses requests without a token. */
  get(isNeeded: boolean, signal: AbortSignal): Promise<string | undefined>;
  /** Returns a new token after the server has refused the given token. Undefined if there is no new token. */
  renew(refused: string | undefined, signal: AbortSignal): Promise<string | undefined>;
}

/** Route that can be called. */
export interface CallRoute {
  /** Operation id of the route. */
  id: string;
  method: string;
  /** Path including the profile's mount, e.g. `/api/tasks/{id}`. */
  path: string;
}

export type CallInput = Record<string, unknown>;
export type SendOptions = CallOptions & HeaderOptions;

/**
 * Builds the request of a call. The input contains the path parameters, the query parameters and the members of the
 * body.
 */
export const toCallRequest = (
  { id, method, path }: CallRoute,
  input: CallInput = {},
  options: SendOptions = {},
): Request => {
  const { ifMatch, ifNoneMatch, idempotencyKey, ...rest } = options;
  const others = Array.isArray(input) ? input : { ...input };
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = (others as CallInput)[name];
    if (value === undefined || value === '') throw new TypeError(`${id} needs ${name}`);
    // URLs resolve `.` and `..`, even encoded, so the call would reach another route.
    if (value === '.' || value === '..') throw new TypeError(`${id}: ${name} cannot be ${value}`);
    delete (others as CallInput)[name];
    return encodeURIComponent(String(value));
  });
  const hasBody = method !== 'GET' && method !== 'DELETE';
  return {
    method,
    path: filled,
    ...rest,
    ...(hasBody ? { body: others } : { query: others as CallInput }),
    headers: { 'If-Match': ifMatch, 'If-None-Match': ifNoneMatch, 'Idempotency-Key': idempotencyKey },
    isRepeatable: method === 'GET' || idempotencyKey !== undefined,
  };
};

/** Creates a random `Idempotency-Key`. Does not use `crypto.randomUUID`, because it is missing on pages loaded without TLS. */
export const createRepeatId = (): string => crypto.getRandomValues(new Uint32Array(4)).join('-');

/** Returns the version of the record in a response, for use as `ifMatch`. */
export const toVersion = ({ headers }: Response): string | undefined =>
  // A proxy that compresses responses marks the version as weak.
  headers.get('ETag')?.replace(/^W\//, '');

export interface Request {
  method: string;
  /** Path relative to the base of the server, with its parameters filled in. */
  path: string;
  /** Query parameters. Absent, null and empty values are omitted. Lists are joined by commas. */
  query?: Record<string, unknown> | undefined;
  /** Sent as JSON. */
  body?: unknown;
  /** Headers. Undefined values are omitted. */
  headers?: Record<string, string | undefined>;
  /** Source of tokens. Without a source, no token is sent. */
  tokens?: HeldTokens | undefined;
  /** The route requires a token. */
  needsToken?: boolean;
  /**
   * True if sending the request twice has the same effect as sending it once. Such a request may be retried even if the
   * outcome of an attempt is unknown.
   */
  isRepeatable?: boolean;
  /** The caller reads the body, without a time limit. */
  isStream?: boolean;
  signal?: AbortSignal | undefined;
  timeout?: number | undefined;
  retries?: number | undefined;
}

export interface Received {
  response: Response;
  /** Value of a JSON body, or text of any other body. Undefined for a stream or without a body. */
  data: unknown;
}

/**
 * Sends a request and returns its successful response. Rejects with a ClientError if the request fails, or with the
 * reason of an aborted signal.
 */
export type Send = (request: Request) => Promise<Received>;

interface SenderOptions {
  /** Address of the server, including the path at which a proxy serves it. */
  url: string;
  timeout?: number | undefined;
  retries?: number | undefined;
  fetch?: typeof fetch | undefined;
  /** Called with each response. */
  onResponse?: (response: Response) => void;
}

const usualTimeout = 30_000;
/** Maximum milliseconds of a timer. */
const longestTimeout = 2 ** 31 - 1;
const usualRetries = 4;
/** Maximum milliseconds between attempts, unless the server sends `Retry-After`. */
const longestDelay = 4000;

/** Returns the timeout of a call in milliseconds. */
export const toLimit = (timeout = usualTimeout): number => Math.min(timeout, longestTimeout);

/** Creates the function that sends all requests of a client, each within its timeout. */
export const createCallSender = (options: SenderOptions): Send => {
  /**
   * Errors after which a call may be retried even if it must be sent only once: the login failed, so the call itself
   * was never sent.
   */
  const repeatable = new WeakSet<ClientError>();
  const base = options.url.replace(/[?#].*$/, '').replace(/\/+$/, '');
  const attempt = async (request: Request, token: string | undefined, signal: AbortSignal): Promise<Received> => {
    const { method, path, body, isRepeatable, isStream } = request;
    const url = base + path + toQuery(request.query);
    const name = `${method} ${url}`;
    const headers = toHeaders(request, token);
    // A redirected POST would become a GET.
    const init: RequestInit = { method, headers, signal, redirect: 'manual' };
    if (body !== undefined) init.body = JSON.stringify(body);
    try {
      const response = await (options.fetch ?? fetch)(url, init);
      options.onResponse?.(response);
      if (isStream && response.ok) return { response, data: undefined };
      const data = toData(name, response, await response.text());
      if (!response.ok) throw toCallRefusal(name, response, data);
      return { response, data };
    } catch (error) {
      signal.throwIfAborted();
      const reason =
        error instanceof ClientError
          ? error
          : new ClientError('connection', `${name}: no response: ${toReason(error)}`, { cause: error });
      if (isRepeatable && isPassingError(reason)) repeatable.add(reason);
      throw reason;
    }
  };
  /** Sends a request. If the token is refused, retries once with a new token. */
  const attemptWithToken = async (request: Request, signal: AbortSignal): Promise<Received> => {
    const { tokens, needsToken = false } = request;
    const token = await tokens?.get(needsToken, signal);
    try {
      return await attempt(request, token, signal);
    } catch (error) {
      const renewed = error instanceof ClientError && error.status === 401 && (await tokens?.renew(token, signal));
      if (!renewed) throw error;
      return await attempt(request, renewed, signal);
    }
  };
  return async (request) => {
    const { retries = options.retries ?? usualRetries } = request;
    const timeout = toLimit(request.timeout ?? options.timeout);
    const end = Date.now() + timeout;
    const tooLate = new AbortController();
    const timer = setTimeout(() => tooLate.abort(toTimeout(request, timeout)), timeout);
    const signal = request.signal ? AbortSignal.any([request.signal, tooLate.signal]) : tooLate.signal;
    try {
      for (let attempts = 0; ; attempts += 1) {
        try {
          return await unlessAborted(attemptWithToken(request, signal), signal);
        } catch (error) {
          if (!(error instanceof ClientError && repeatable.has(error)) || attempts >= retries) throw error;
          const { retryAfter } = error;
          const delay = retryAfter === undefined ? toRetryDelay(attempts, longestDelay) : retryAfter * 1000;
          if (Date.now() + delay >= end) throw error;
          await pause(delay, signal);
        }
      }
    } finally {
      clearTimeout(timer);
    }
  };
};

const toQuery = (query: Record<string, unknown> = {}): string => {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (isSet(value)) search.set(name, String(value));
  return search.size === 0 ? '' : `?${search}`;
};

const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

const toHeaders = ({ headers = {}, body }: Request, token: string | undefined): Headers => {
  const sent = new Headers(body === undefined ? {} : { 'Content-Type': 'application/json' });
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) sent.set(name, value);
  // The runtime's own error would reveal the token.
  if (token && !/^[ -~]+$/.test(token))
    throw new TypeError('the key or token has characters that are not allowed in a header');
  if (token) sent.set('Authorization', `Bearer ${token}`);
  return sent;
};

const toData = (name: string, response: Response, text: string): unknown => {
  if (text === '') return undefined;
  if (/^(?:text\/(?:csv|plain|markdown)|image\/svg)/.test(response.headers.get('Content-Type') ?? '')) return text;
  try {
    return parseResponseJson(name, text, response);
  } catch (error) {
    if (response.ok) throw error;
    return text;
  }
};

const toTimeout = ({ method, path }: Request, timeout: number): ClientError =>
  new ClientError('timeout', `${method} ${path}: no response within ${timeout} ms`);

/** Returns the reason why fetch failed. Runtimes store it in `cause`. */
const toReason = (error: unknown): string => {
  const { message, cause } = error as { message?: string; cause?: { code?: string; message?: string } };
  return cause?.code ?? cause?.message ?? message ?? String(error);
};

interface Details {
  response?: Response | undefined;
  body?: unknown;
  cause?: unknown;
}

/** Error for a failed request. See types.ts. */
export class ClientError extends Error implements ClientFailure {
  readonly code: ClientFailure['code'];
  readonly status: number;
  readonly retryAfter: number | undefined;
  readonly body: unknown;
  readonly requestId: string | undefined;

  constructor(code: ClientFailure['code'], message: string, { response, body, cause }: Details = {}) {
    super(message, { cause });
    this.name = 'ClientError';
    this.code = code;
    this.status = response?.status ?? 0;
    this.retryAfter = parseRetryAfter(response?.headers.get('Retry-After'));
    this.body = body;
    this.requestId = readText(body, 'requestId');
  }
}

/** Creates the error for a response that is not 2xx. */
const toCallRefusal = (name: string, response: Response, body: unknown): ClientError =>
  new ClientError('status', readText(body, 'error') ?? `${name}: status ${response.status}`, { response, body });

/** Parses the JSON text of a response. Throws a ClientError for other text. */
export const parseResponseJson = (name: string, text: string, response?: Response): unknown => {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ClientError('format', `${name}: the response is not JSON`, { response, body: text, cause });
  }
};

/**
 * True if the request may succeed when retried later. A server of version 1.0 responds 409 with Retry-After while the
 * first request with an idempotency key is running.
 */
export const isPassingError = ({ code, status, retryAfter }: ClientError): boolean =>
  code === 'connection' ||
  code === 'timeout' ||
  (code === 'status' && ([429, 502, 503, 504].includes(status) || (status === 409 && retryAfter !== undefined)));

const readText = (body: unknown, name: string): string | undefined => {
  const value = (body as Record<string, unknown> | null | undefined)?.[name];
  return typeof value === 'string' ? value : undefined;
};

/** Settles like the promise. If the signal is aborted first, rejects with the signal's reason. */
export const unlessAborted = <T>(promise: Promise<T>, signal: AbortSignal): Promise<T> => {
  let abort: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort);
  });
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', abort));
};

/** Waits. If the signal is aborted first, rejects with the signal's reason. */
export const pause = async (milliseconds: number, signal: AbortSignal): Promise<void> => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await unlessAborted(over, signal).finally(() => clearTimeout(timer));
};

/** Returns the milliseconds until the next attempt. They roughly double each time, and differ between clients. */
export const toRetryDelay = (attempts: number, longest: number): number =>
  Math.min(longest, 250 * 2 ** attempts) * (0.5 + Math.random() / 2);
