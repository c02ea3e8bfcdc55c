import { ClientError } from '../src/client/error.ts';
import { createSender, type Received } from '../src/client/send.ts';
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

  constructor(problem: Problem, message: string, cause?: ClientError) {
    super(message, { cause });
    this.problem = problem;
    this.status = cause?.status ?? 0;
    this.body = isObject(cause?.body) ? cause.body : {};
    this.retryAfter = cause?.retryAfter || undefined;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Milliseconds to wait for a response, unless the caller says otherwise. */
const usualPatience = 10_000;

/** Types a call: `defineCall<TaskList>({ profile: 'tasks', method: 'GET', path: '/api/tasks', shape: {…} })`. */
export const defineCall = <T>(call: Call<T>): Call<T> => call;

/** The address of a path of this server, which may be mounted below another path by a proxy. */
export const toAddress = (path: string): string => new URL(`..${path}`, document.baseURI).href;

/** What sends every request of the console. Nothing is repeated: screens are read again after each change. */
export const transmit = createSender({
  ...{ url: toAddress('/'), timeout: usualPatience, retries: 0 },
  onResponse: compareClocks,
});

/** The session's token; after a 401, `send` asks for a login, which may take longer than a request. */
export const sessionTokens = { get: async () => session.value?.token, renew: async () => undefined };

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
  let received = await request(call, route, details).catch(toExpired(route));
  if (!received) {
    expireSession();
    await ensureLogin(details);
    received = await request(call, route, details);
  }
  const { data, response } = received;
  const place = findMismatch(data, call.shape);
  if (place !== undefined) throw new ApiError('shape', text.errors.shape(name, place));
  // A proxy that compresses responses marks the version as weak.
  const version = response.headers.get('ETag')?.replace(/^W\//, '');
  return { value: data as T, version };
};

const isLoginMissing = ({ access }: MountedRoute): boolean => access !== 'open' && session.value === undefined;

const ensureLogin = async ({ interactive }: Details): Promise<void> => {
  if (!interactive || !(await requestLogin())) throw new ApiError('login', text.errors.login);
};

const request = async (call: RouteName, { path, access }: MountedRoute, details: Details): Promise<Received> => {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(details.params?.[name] ?? ''));
  const { query, body, headers = {}, signal, patience } = details;
  const tokens = access === 'open' ? undefined : sessionTokens;
  const sent = { method: call.method, path: filled, query, body, headers, tokens, signal, timeout: patience };
  return transmit(sent).catch((error: unknown) => {
    throw error instanceof ClientError ? toApiError(error, `${call.method} ${path}`) : error;
  });
};

/** Undefined for a session that has expired; throws any other error. */
const toExpired =
  ({ access }: MountedRoute) =>
  (error: unknown): undefined => {
    if (!(error instanceof ApiError && error.status === 401 && access !== 'open')) throw error;
  };

const toApiError = (error: ClientError, name: string): ApiError => {
  if (error.code === 'format') return new ApiError('shape', text.errors.shape(name, 'response'), error);
  if (error.code !== 'status') return new ApiError('offline', text.errors.offline, error);
  const said = isObject(error.body) && error.body['error'];
  return new ApiError('refused', typeof said === 'string' ? said : text.errors.status(name, error.status), error);
};
