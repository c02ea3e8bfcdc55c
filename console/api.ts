import { compareClocks } from './clock.ts';
import { findRoute, type MountedRoute, type RouteName } from './mounts.ts';
import { expireSession, requestLogin, session } from './session.ts';
import { findMismatch, type Shape } from './shape.ts';
import { text } from './strings/index.ts';

/** A route and what the console relies on in its response. */
export interface Call<T> extends RouteName {
  shape: Shape;
  /** Only carries the type. */
  response?: T;
}

export interface Details {
  query?: Record<string, string | number | undefined>;
  params?: Record<string, string | number>;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** Milliseconds to wait for the response, where it may take longer than usual. */
  patience?: number;
  /** The user has asked for this: if a login is missing, the dialog opens and the request is sent again. */
  interactive?: boolean;
}

/** `offline`: no response. `login`: a login is needed. `shape`: not what the console expects. Else a refusal. */
type Problem = 'offline' | 'login' | 'shape' | 'refused';

export class ApiError extends Error {
  readonly problem: Problem;
  /** 0 without a response. */
  readonly status: number;
  /** The body of a refusal. */
  readonly body: Record<string, unknown>;
  /** Seconds after which the server accepts another attempt. */
  readonly retryAfter: number | undefined;

  constructor(problem: Problem, message: string, response?: Response, body: Record<string, unknown> = {}) {
    super(message);
    this.problem = problem;
    this.status = response?.status ?? 0;
    this.body = body;
    this.retryAfter = Number(response?.headers.get('Retry-After')) || undefined;
  }
}

/** Milliseconds to wait for a response, unless the caller says otherwise. */
const usualPatience = 10_000;

/** Types a call: `defineCall<TaskList>({ profile: 'tasks', method: 'GET', path: '/api/tasks', shape: {…} })`. */
export const defineCall = <T>(call: Call<T>): Call<T> => call;

/** The address of a path of this server, which may be mounted below another path by a proxy. */
export const toAddress = (path: string): string => new URL(`..${path}`, document.baseURI).href;

/** Sends a request and returns the checked response; throws an ApiError whose message can be shown. */
export const send = async <T>(call: Call<T>, details: Details = {}): Promise<T> =>
  (await sendForVersion(call, details)).value;

/** As `send`; with the version of what came back, for the header `If-Match`. */
export const sendForVersion = async <T>(
  call: Call<T>,
  details: Details = {},
): Promise<{ value: T; version: string | undefined }> => {
  const route = findRoute(call);
  const name = `${call.method} ${route?.path ?? call.path}`;
  if (!route) throw new ApiError('refused', text.errors.notMounted(name));
  if (isLoginMissing(route)) await ensureLogin(details);
  let response = await request(call, route, details);
  if (response.status === 401 && route.access !== 'open') {
    expireSession();
    await ensureLogin(details);
    response = await request(call, route, details);
  }
  const value = await readBody(response, name);
  if (!response.ok) throw toRefusal(response, value, name);
  const place = findMismatch(value, call.shape);
  if (place !== undefined) throw new ApiError('shape', text.errors.shape(name, place), response);
  // A proxy that compresses responses marks the version as weak.
  const version = response.headers.get('ETag')?.replace(/^W\//, '');
  return { value: value as T, version };
};

const isLoginMissing = ({ access }: MountedRoute): boolean => access !== 'open' && session.value === undefined;

const ensureLogin = async ({ interactive }: Details): Promise<void> => {
  if (!interactive || !(await requestLogin())) throw new ApiError('login', text.errors.login);
};

const request = async (call: RouteName, { path, access }: MountedRoute, details: Details): Promise<Response> => {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(details.params?.[name] ?? ''));
  const url = new URL(toAddress(filled));
  for (const [name, value] of Object.entries(details.query ?? {})) {
    if (value !== undefined && value !== '') url.searchParams.set(name, String(value));
  }
  const headers = new Headers(details.headers);
  if (access !== 'open' && session.value) headers.set('Authorization', `Bearer ${session.value.token}`);
  const body = details.body === undefined ? null : JSON.stringify(details.body);
  if (body !== null) headers.set('Content-Type', 'application/json');
  const timeout = AbortSignal.timeout(details.patience ?? usualPatience);
  const signal = details.signal ? AbortSignal.any([details.signal, timeout]) : timeout;
  try {
    const response = await fetch(url, { method: call.method, headers, body, signal });
    compareClocks(response);
    return response;
  } catch (error) {
    if (details.signal?.aborted) throw error;
    throw new ApiError('offline', text.errors.offline);
  }
};

/** The JSON of a response, or its plain text; undefined if it has none. */
const readBody = async (response: Response, name: string): Promise<unknown> => {
  const body = await response.text().catch(() => {
    throw new ApiError('offline', text.errors.offline);
  });
  if (response.headers.get('Content-Type')?.startsWith('text/plain')) return body;
  try {
    return body === '' ? undefined : JSON.parse(body);
  } catch {
    if (!response.ok) return undefined;
    throw new ApiError('shape', text.errors.shape(name, 'response'), response);
  }
};

const toRefusal = (response: Response, value: unknown, name: string): ApiError => {
  const body = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  const message = typeof body['error'] === 'string' ? body['error'] : text.errors.status(name, response.status);
  return new ApiError('refused', message, response, body);
};
