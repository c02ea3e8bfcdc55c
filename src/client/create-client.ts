import { createHeldTokens, type Login } from './credentials.ts';
import {
  type CallInput,
  ClientError,
  createCallSender,
  createRequestKey,
  type Options,
  parseJson,
  type Received,
  type Request,
  toCallRequest,
  toLimit,
  toVersion,
} from './send.ts';
import { followEvents, pagings, readEntries, readListPages } from './streams.ts';
import type { Client, ClientOptions, OperationTypes, WithResponse } from './types.ts';

export { ClientError } from './send.ts';

/**
 * The routes, written by the build from the program's OpenAPI document: a line for each, with the operation's id, its
 * method, profile, default mount and path, and how it is called:
 *
 * - `token`: it needs a token; `key`: it reads `Idempotency-Key`;
 * - `after`, `before`, `page`: it returns a list by pages; `list`: it returns a whole list.
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

type Methods = Record<string, (input?: CallInput, options?: Options) => unknown>;
type AnyOperations = Record<string, OperationTypes>;

/**
 * A client of the signalbox at an address, with the path at which a proxy serves it; in a page, also relative to it.
 * Nothing is sent before the first call. Throws a TypeError for an invalid address.
 */
export const createClient = (
  url: string,
  options: ClientOptions = {},
): Client<AnyOperations, Record<string, unknown>> => {
  const { location } = globalThis as { location?: { href: string } };
  const { href, protocol, username, password } = new URL(url, location?.href);
  if (!/^https?:$/.test(protocol)) throw new TypeError('the address must begin with http:// or https://');
  if (username || password) throw new TypeError('the address must have no password: pass it as credentials');
  // From pages of other origins, browsers send only headers that the server's CORS allows.
  const isForeign = location !== undefined && new URL(href).origin !== new URL(location.href).origin;
  const send = createCallSender({ ...options, url: href });
  const toPath = ({ profile, base, path }: Operation): string =>
    (options.mounts?.[profile] ?? base).replace(/\/+$/, '') + path;
  const tokens = createHeldTokens(options.credentials, async (Username, Password) => {
    const path = toPath(operations['login'] as Operation);
    const body = { Username, Password };
    // The call that needs the token repeats it.
    const { data } = await send({ method: 'POST', path, body, isRepeatable: true, retries: 0 });
    return data as Login;
  });

  const prepare = (operation: Operation, input: CallInput, { idempotencyKey, ...options }: Options): Request => {
    const { id, marks } = operation;
    const key = marks.includes('key') ? (idempotencyKey ?? (isForeign ? undefined : createRequestKey())) : undefined;
    const route = { ...operation, path: toPath(operation) };
    return {
      ...toCallRequest(route, input, { ...options, ...(key !== undefined && { idempotencyKey: key }) }),
      ...(id !== 'login' && { tokens }),
      needsToken: marks.includes('token'),
    };
  };

  const call = (operation: Operation, input: CallInput = {}, given: Options = {}): Promise<Received> =>
    send(prepare(operation, input, given));

  /** The response to a request, if its body, still to be read, is of this type. */
  const openStream = async (request: Request, type: string): Promise<Response> => {
    const { response } = await send({ ...request, isStream: true });
    if (response.status === 200 && response.headers.get('Content-Type')?.startsWith(type)) return response;
    await response.body?.cancel();
    throw new ClientError('format', `${toName(request)}: the response is not ${type}`, { response });
  };

  const each = async function* (operation: Operation, input: CallInput = {}, given: Options = {}) {
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
    given: Options = {},
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
        yield { topic: event, data: parseJson(toName(request), data), id };
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
      (operation) => async (input, given) => withVersion(await call(operation, input, given)),
    ),
    each: createMethods((operation) => (input, given) => each(operation, input, given)),
    streamEvents: (input: CallInput, given: Options) =>
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

const withVersion = ({ data, response }: Received): WithResponse<unknown> => ({
  data,
  version: toVersion(response),
  response,
});
