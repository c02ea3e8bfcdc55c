import type { Tokens } from './credentials.ts';
import { ClientError, isPassing, parseJson, toRefusal } from './error.ts';
import { pause, toDelay, unlessAborted } from './wait.ts';

export interface Request {
  method: string;
  /** From the base of the server on, with its parameters filled in. */
  path: string;
  /** Absent, null and empty values are left out; lists are joined by commas. */
  query?: Record<string, unknown> | undefined;
  /** Sent as JSON. */
  body?: unknown;
  /** Absent ones are left out. */
  headers?: Record<string, string | undefined>;
  /** Without them, no token is sent. */
  tokens?: Tokens | undefined;
  /** The route needs a token. */
  needsToken?: boolean;
  /** Sending it twice is as good as once, so it may be repeated where the outcome of an attempt is unknown. */
  isRepeatable?: boolean;
  /** The body is left to the caller to read, without a limit of time. */
  isStream?: boolean;
  signal?: AbortSignal | undefined;
  timeout?: number | undefined;
  retries?: number | undefined;
}

export interface Received {
  response: Response;
  /** The value of a JSON body, or the text of another; undefined for a stream, and without a body. */
  data: unknown;
}

/** Sends a request and returns its successful response; rejects with a ClientError, or with the signal's reason. */
export type Send = (request: Request) => Promise<Received>;

interface SenderOptions {
  /** The address of the server, with the path at which a proxy serves it. */
  url: string;
  timeout?: number | undefined;
  retries?: number | undefined;
  fetch?: typeof fetch | undefined;
  /** Called with each response. */
  onResponse?: (response: Response) => void;
}

const usualTimeout = 30_000;
/** Timers can wait no longer. */
const longestTimeout = 2 ** 31 - 1;
const usualRetries = 4;
/** Milliseconds between attempts at most, unless the server says when to come back. */
const longestDelay = 4000;

/** Milliseconds for a call, by its option or its client's. */
export const toLimit = (timeout = usualTimeout): number => Math.min(timeout, longestTimeout);

/** What sends all requests of a client, each within its time. */
export const createSender = (options: SenderOptions): Send => {
  /** Errors after which a call may be repeated: those of a login, also if the call itself may be sent only once. */
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
      if (!response.ok) throw toRefusal(name, response, data);
      return { response, data };
    } catch (error) {
      signal.throwIfAborted();
      const reason =
        error instanceof ClientError
          ? error
          : new ClientError('connection', `${name}: no response: ${toReason(error)}`, { cause: error });
      if (isRepeatable && isPassing(reason)) repeatable.add(reason);
      throw reason;
    }
  };
  /** Sends once, and once more with another token if the first one is refused. */
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
          const delay = retryAfter === undefined ? toDelay(attempts, longestDelay) : retryAfter * 1000;
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
  // The error of the runtime would show it.
  if (token && !/^[ -~]+$/.test(token)) throw new TypeError('the key or token has characters that no header can have');
  if (token) sent.set('Authorization', `Bearer ${token}`);
  return sent;
};

const toData = (name: string, response: Response, text: string): unknown => {
  if (text === '') return undefined;
  if (response.headers.get('Content-Type')?.startsWith('text/plain')) return text;
  try {
    return parseJson(name, text, response);
  } catch (error) {
    if (response.ok) throw error;
    return text;
  }
};

const toTimeout = ({ method, path }: Request, timeout: number): ClientError =>
  new ClientError('timeout', `${method} ${path}: no response within ${timeout} ms`);

/** Why fetch has failed: runtimes put the reason into `cause`. */
const toReason = (error: unknown): string => {
  const { message, cause } = error as { message?: string; cause?: { code?: string; message?: string } };
  return cause?.code ?? cause?.message ?? message ?? String(error);
};
