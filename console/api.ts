import type { SignalboxClient } from 'signalbox/client';
import {
  type CallInput,
  ClientError,
  createCallSender,
  type HeldTokens,
  type Received,
  type SendOptions,
  toCallRequest,
  toVersion,
} from '../src/client/send.ts';
import { compareClocks } from './clock.ts';
import { findRoute, type MountedRoute, type RouteName } from './routes.ts';
import { findMismatch } from './schemas.ts';
import { expireSession, requestLogin, session } from './session.ts';
import { text } from './strings/index.ts';

/**
 * Kind of failure. `offline`: no response. `login`: the user must log in. `shape`: the response does not match its
 * schema. `refused`: the server refused the request.
 */
type Problem = 'offline' | 'login' | 'shape' | 'refused';

export class ApiError extends Error {
  readonly problem: Problem;
  /** HTTP status. 0 without a response. */
  readonly status: number;
  /** Body of the refusal. */
  readonly body: Record<string, unknown>;
  /** Seconds before the server accepts another attempt. */
  readonly retryAfter: number | undefined;

  constructor(problem: Problem, message: string, cause?: ClientError) {
    super(message, { cause });
    this.problem = problem;
    this.status = cause?.status ?? 0;
    this.body = isObject(cause?.body) ? cause.body : {};
    this.retryAfter = cause?.retryAfter || undefined;
  }
}

/** True if the user must log in or needs another role. */
export const isForbidden = ({ problem, status }: ApiError): boolean => problem === 'login' || status === 403;

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Returns the URL of a path on this server. A proxy may serve that path under another path. */
export const toAddress = (path: string): string => new URL(`..${path}`, document.baseURI).href;

/**
 * Sends all requests of the console, with a timeout of 10 s. Requests are never retried, because screens reload
 * instead.
 */
export const transmit = createCallSender({
  url: toAddress('/'),
  timeout: 10_000,
  retries: 0,
  onResponse: compareClocks,
});

/**
 * Token of the session, and the token that replaces an expired one during a request. Logging in may take any amount of
 * time, so `call` asks the user to log in, not the sender.
 */
export const sessionTokens: HeldTokens = {
  get: async () => session.value?.token,
  renew: async (refused) => {
    if (session.value?.token === refused) expireSession();
    return session.value?.token;
  },
};

/** Client that users import as `signalbox/client`, with the routes mounted on this server. */
type ConsoleClient = Omit<SignalboxClient, 'each' | 'streamEvents' | 'withResponse'>;

const createMethods = (isAsked: boolean, toResult: (received: Received) => unknown): object =>
  new Proxy(
    {},
    {
      get: (_, name: RouteName) => async (input?: CallInput, options?: SendOptions) =>
        toResult(await call(name, input, options, isAsked)),
    },
  );

/** Public routes that return more to logged-in users. */
const moreForUsers: readonly RouteName[] = ['listHeartbeats', 'getHeartbeat', 'listIncidents', 'listAvailability'];

/** Sends a request and returns the validated response. Throws an ApiError with a message for the user. */
const call = async (
  name: RouteName,
  input: CallInput | undefined,
  options: SendOptions | undefined,
  isAsked: boolean,
): Promise<Received> => {
  const route = findRoute(name);
  if (!route) throw new ApiError('refused', text.errors.notMounted(name));
  const isOpen = !route.roles;
  const hasToken = !isOpen || moreForUsers.includes(name);
  const attempt = () =>
    transmit({ ...toCallRequest(route, input, options), ...(hasToken && { tokens: sessionTokens }) });
  const ensureLogin = async (): Promise<void> => {
    if (!isAsked || !(await requestLogin())) throw new ApiError('login', text.errors.login);
  };
  if (!isOpen && session.value === undefined) await ensureLogin();
  const received = await attempt()
    .catch(async (error: unknown) => {
      if (isOpen || !(error instanceof ClientError && error.status === 401)) throw error;
      await ensureLogin();
      return attempt();
    })
    .catch((error: unknown) => {
      throw error instanceof ClientError ? toApiError(error, toName(route)) : error;
    });
  const place = findMismatch(route.id, received.data);
  if (place !== undefined) throw new ApiError('shape', text.errors.shape(toName(route), `response${place}`));
  return received;
};

const toName = ({ method, path }: MountedRoute): string => `${method} ${path}`;

const toApiError = (error: ClientError, name: string): ApiError => {
  if (error.code === 'format') return new ApiError('shape', text.errors.shape(name, 'response'), error);
  if (error.code !== 'status') return new ApiError('offline', text.errors.offline, error);
  const said = isObject(error.body) && error.body['error'];
  return new ApiError('refused', typeof said === 'string' ? said : text.errors.status(name, error.status), error);
};

/** Calls routes by operation id to read data. Never opens the login dialog. */
export const client = createMethods(false, ({ data }) => data) as ConsoleClient;

/** Calls routes for actions by the user. Opens the login dialog if needed, then sends the request. */
export const userClient = createMethods(true, ({ data }) => data) as ConsoleClient;

/** Calls routes as `userClient` does, and also returns the version of the resource. */
export const versionedClient = createMethods(true, ({ data, response }) => ({
  data,
  version: toVersion(response),
  response,
})) as SignalboxClient['withResponse'];
