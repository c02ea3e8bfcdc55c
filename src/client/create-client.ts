import {
  type CallInput,
  ClientError,
  createCallSender,
  createRepeatId,
  type HeldTokens,
  parseResponseJson,
  type Received,
  type Request,
  type SendOptions,
  toCallRequest,
  toLimit,
  toVersion,
  unlessAborted,
} from './send.ts';
import { followEvents, pagings, readEntries, readListPages } from './streams.ts';
import type { Client, ClientCredentials, ClientOptions, OperationTypes, WithResponse } from './types.ts';

export { ClientError } from './send.ts';

/**
 * Routes. The build generates them from the OpenAPI document of the program. Each line has the operation's id, its
 * method, profile, default mount and path, and marks:
 *
 * - `token`: the route requires a token; `key`: it reads `Idempotency-Key`;
 * - `after`, `before`, `page`: it returns a list in pages; `list`: it returns a whole list.
 */
declare const OPERATIONS: string;

interface Operation {
  id: string;
  method: string;
  profile: string;
  base: string;
  path: string;
  marks: string[];
}

type Methods = Record<string, (input?: CallInput, options?: SendOptions) => unknown>;
type AnyOperations = Record<string, OperationTypes>;

/**
 * Creates a client for the signalbox server at an address. If a proxy serves signalbox under a path, the address
 * includes that path. On a web page, the address may be relative. Sends nothing before the first call. Throws a
 * TypeError for an invalid address.
 */
export const createClient = (
  url: string,
  options: ClientOptions = {},
): Client<AnyOperations, Record<string, unknown>> => {
  const { location } = globalThis as { location?: { href: string } };
  const { href, protocol, username, password } = new URL(url, location?.href);
  if (!/^https?:$/.test(protocol)) throw new TypeError('the address must begin with http:// or https://');
  if (username || password)
    throw new TypeError('the address must not contain a user name or password: pass them as credentials');
  // From pages of other origins, browsers send only headers that the server's CORS allows.
  const isForeign = location !== undefined && new URL(href).origin !== new URL(location.href).origin;
  const send = createCallSender({ ...options, url: href });
  const toPath = ({ profile, base, path }: Operation): string =>
    (options.mounts?.[profile] ?? base).replace(/\/+$/, '') + path;
  const tokens = createHeldTokens(options.credentials, async (Username, Password) => {
    const path = toPath(operations['login'] as Operation);
    const body = { Username, Password };
    // The call that needs the token decides about retries.
    const { data } = await send({ method: 'POST', path, body, isRepeatable: true, retries: 0 });
    return data as Login;
  });

  const prepare = (operation: Operation, input: CallInput, { idempotencyKey, ...options }: SendOptions): Request => {
    const { id, marks } = operation;
    const key = marks.includes('key') ? (idempotencyKey ?? (isForeign ? undefined : createRepeatId())) : undefined;
    const route = { ...operation, path: toPath(operation) };
    return {
      ...toCallRequest(route, input, { ...options, ...(key !== undefined && { idempotencyKey: key }) }),
      ...(id !== 'login' && { tokens }),
      needsToken: marks.includes('token'),
    };
  };

  const call = (operation: Operation, input: CallInput = {}, given: SendOptions = {}): Promise<Received> =>
    send(prepare(operation, input, given));

  /** Returns the response to a request if the body has this type. The body has not been read yet. */
  const openStream = async (request: Request, type: string): Promise<Response> => {
    const { response } = await send({ ...request, isStream: true });
    if (response.status === 200 && response.headers.get('Content-Type')?.startsWith(type)) return response;
    await response.body?.cancel();
    throw new ClientError('format', `${toName(request)}: the response is not ${type}`, { response });
  };

  const each = async function* (operation: Operation, input: CallInput = {}, given: SendOptions = {}) {
    const paging = operation.marks.map((mark) => pagings[mark]).find(Boolean);
    if (paging) return yield* readListPages(paging, input, async (page) => (await call(operation, page, given)).data);
    const request = prepare(operation, input, given);
    const silence = toLimit(given.timeout ?? options.timeout);
    const response = await openStream(request, 'application/json');
    yield* readEntries(toName(request), response, { signal: given.signal, silence });
  };

  const streamEvents = async function* (
    operation: Operation,
    { topics, lastEventId }: CallInput = {},
    given: SendOptions = {},
  ) {
    const ended = new AbortController();
    const signal = given.signal ? AbortSignal.any([given.signal, ended.signal]) : ended.signal;
    const request = prepare(operation, { topics }, { ...given, signal });
    const open = (lastId: string | undefined) =>
      openStream({ ...request, headers: isForeign ? {} : { 'Last-Event-ID': lastId } }, 'text/event-stream');
    try {
      for await (const { event, data, id } of followEvents({
        open,
        lastId: lastEventId as string | undefined,
        signal,
      })) {
        yield { topic: event, data: parseResponseJson(toName(request), data), id };
      }
    } finally {
      ended.abort();
    }
  };

  const createMethods = (toMethod: (operation: Operation) => Methods[string]): Methods =>
    Object.fromEntries(Object.values(operations).map((operation) => [operation.id, toMethod(operation)]));
  const client = {
    ...createMethods((operation) => async (input, given) => (await call(operation, input, given)).data),
    withResponse: createMethods(
      (operation) => async (input, given) => toWithResponse(await call(operation, input, given)),
    ),
    each: createMethods((operation) => (input, given) => each(operation, input, given)),
    streamEvents: (input: CallInput, given: SendOptions) =>
      streamEvents(operations['streamEvents'] as Operation, input, given),
  };
  return client as unknown as Client<AnyOperations, Record<string, unknown>>;
};

const readOperations = (table: string): Record<string, Operation> =>
  Object.fromEntries(
    table.split('\n').map((line) => {
      const [id = '', method = '', profile = '', base = '', path = '', ...marks] = line.split(' ');
      return [id, { id, method, profile, base, path, marks }];
    }),
  );

const operations = readOperations(OPERATIONS);

const toName = ({ method, path }: Request): string => `${method} ${path}`;

const toWithResponse = ({ data, response }: Received): WithResponse<unknown> => ({
  data,
  version: toVersion(response),
  response,
});

/** Response to a login. */
export interface Login {
  token: string;
  /** Lifetime of the token in seconds. */
  expiresIn: number;
}

/**
 * Milliseconds before expiry at which a token is renewed. A token with less than twice this lifetime is renewed halfway
 * through.
 */
const renewedBefore = 60_000;

/** Creates the source of tokens. Undefined if the client has no credentials. */
export const createHeldTokens = (
  credentials: ClientCredentials | undefined,
  logIn: (user: string, password: string) => Promise<Login>,
): HeldTokens | undefined => {
  if (!credentials) return undefined;
  if ('user' in credentials) return createLoginTokens(() => logIn(credentials.user, credentials.password));
  const given = 'key' in credentials ? credentials.key : credentials.token;
  const get = async (refused?: string) => (typeof given === 'function' ? given(refused) : given);
  return {
    get: () => get(),
    renew: async (refused) => {
      const other = await get(refused);
      return other === refused ? undefined : other;
    },
  };
};

/** Logs in when a token is needed, and again before the token expires. Concurrent calls share one login. */
const createLoginTokens = (logIn: () => Promise<Login>): HeldTokens => {
  let token: string | undefined;
  let renewAt = 0;
  let running: Promise<string> | undefined;
  const logInOnce = (): Promise<string> => {
    running ??= logIn()
      .then((login) => {
        const lifetime = login.expiresIn * 1000;
        renewAt = Date.now() + lifetime - Math.min(renewedBefore, lifetime / 2);
        token = login.token;
        return token;
      })
      .finally(() => {
        running = undefined;
      });
    return running;
  };
  return {
    get: async (isNeeded, signal) => {
      const isFresh = token !== undefined && Date.now() < renewAt;
      if (isFresh || (token === undefined && !isNeeded)) return token;
      return unlessAborted(logInOnce(), signal);
    },
    // Another call may have renewed the token in the meantime.
    renew: async (refused, signal) => (token !== refused ? token : unlessAborted(logInOnce(), signal)),
  };
};
