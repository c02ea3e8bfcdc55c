/**
 * The types of the client that are the same whatever the routes are. The build puts this file into client.d.ts, after the
 * types of the routes, so it imports nothing.
 */

/** How the client shows who it is: by logging in, with a token, or with a key of docs/guides/keys.md. */
export type ClientCredentials =
  | { user: string; password: string }
  | {
      /** A function is called for each request; after a 401, once more with the token that was refused. */
      token: string | ((refused?: string) => string | undefined | Promise<string | undefined>);
    }
  | { key: string };

export interface ClientOptions {
  credentials?: ClientCredentials;
  /** Where profiles are mounted, if not at their default: `{ 'simple-tasks': '/todo' }`. */
  mounts?: Record<string, string>;
  /** Milliseconds for a call with all its attempts, or between pieces of a list that is read by `each`. Default: 30000. */
  timeout?: number;
  /** How often a request that can be repeated is repeated. Default: 4. */
  retries?: number;
  /** Used in place of the global `fetch`. */
  fetch?: typeof fetch;
}

export interface CallOptions {
  /** Ends the call, which then throws the signal's reason. */
  signal?: AbortSignal;
  /** Replaces the client's. */
  timeout?: number;
  /** Replaces the client's. */
  retries?: number;
}

export interface HeaderOptions {
  /** The `version` of a response: the server responds 412 if the record has changed since. */
  ifMatch?: string;
  /** `*`: the server responds 412 if there is one already. */
  ifNoneMatch?: '*';
  /** Replaces the random key with which a request is stored once, however often it is sent. */
  idempotencyKey?: string;
}

/** What a ClientError is: a request that has failed. */
export interface ClientFailure extends Error {
  /**
   * `status`: the server refused it. `connection`: no complete response. `timeout`: none in time. `format`: what came is
   * not JSON or no stream of events, so the server may not be signalbox.
   */
  readonly code: 'status' | 'connection' | 'timeout' | 'format';
  /** The status of the response; 0 without one. */
  readonly status: number;
  /** Seconds after which the server accepts another attempt. */
  readonly retryAfter: number | undefined;
  /** The body of the response: a value if it was JSON, else its text. */
  readonly body: unknown;
  /** Names a request that failed with 500 in the server's log. */
  readonly requestId: string | undefined;
}

/** Types of one route. */
export interface OperationTypes {
  /** Parameters of path and query, and the members of the body, in one object. */
  input: unknown;
  output: unknown;
  /** The headers that it reads. */
  headers: keyof HeaderOptions;
  /** An entry, if it returns a list. */
  entry: unknown;
}

/** A route as openapi-typescript describes it. */
interface Described {
  parameters: { query?: unknown; path?: unknown; header?: unknown };
  responses: Record<number, { content: Record<string, unknown> }>;
}

/** Optional parameters may be given as undefined too; unknown if there are none. */
type Given<T> = [T] extends [never] ? unknown : { [K in keyof T]: object extends Pick<T, K> ? T[K] | undefined : T[K] };
type Parameters<O extends Described> = Given<NonNullable<O['parameters']['path']>> &
  Given<NonNullable<O['parameters']['query']>>;
/** Routes for bodies of many forms describe none of them. */
type Body<T> = unknown extends T ? object : T;
type Input<O extends Described> = O extends { requestBody: { content: { 'application/json': infer T } } }
  ? Parameters<O> & Body<T>
  : unknown extends Parameters<O>
    ? undefined
    : object extends Parameters<O>
      ? Parameters<O> | undefined
      : Parameters<O>;
type Output<O extends Described> = Values<O['responses']> extends { content: infer C } ? Values<C> : never;
type Values<T> = T[keyof T];
type Entry<T> = T extends readonly (infer E)[] | { data: readonly (infer E)[] }
  ? E extends object
    ? E
    : never
  : never;
type Names<T> = [T] extends [never] ? never : keyof T;
type HeaderNames = { 'If-Match': 'ifMatch'; 'If-None-Match': 'ifNoneMatch'; 'Idempotency-Key': 'idempotencyKey' };

export interface ToOperation<O extends Described> extends OperationTypes {
  input: Input<O>;
  output: Output<O>;
  headers: HeaderNames[Names<NonNullable<O['parameters']['header']>> & keyof HeaderNames];
  entry: Entry<Output<O>>;
}

type Arguments<O extends OperationTypes> = undefined extends O['input']
  ? [input?: O['input'], options?: CallOptions & Pick<HeaderOptions, O['headers']>]
  : [input: O['input'], options?: CallOptions & Pick<HeaderOptions, O['headers']>];

export interface WithResponse<T> {
  data: T;
  /** The version of a record, for `ifMatch`. */
  version: string | undefined;
  /** Its body has been read. */
  response: Response;
}

/** `resync`: events of these topics may have been missed, so read again what they are about. */
export type TopicEvent<Topics, T extends keyof Topics> =
  | { [K in T]: { topic: K; data: Topics[K]; id: string | undefined } }[T]
  | { topic: 'resync'; data: { topics: T[] }; id: string | undefined };

export type Client<Operations extends { [K in keyof Operations]: OperationTypes }, Topics> = {
  [K in keyof Operations]: (...args: Arguments<Operations[K]>) => Promise<Operations[K]['output']>;
} & {
  /** The same methods, with the response and the version of what came. */
  withResponse: {
    [K in keyof Operations]: (...args: Arguments<Operations[K]>) => Promise<WithResponse<Operations[K]['output']>>;
  };
  /** The entries of a list, one after the other: page by page, or while the response arrives. */
  each: {
    [K in keyof Operations as [Operations[K]['entry']] extends [never] ? never : K]: (
      ...args: Arguments<Operations[K]>
    ) => AsyncGenerator<Operations[K]['entry'], void>;
  };
  /**
   * Events as they happen, until the loop is left or the signal ends it. Connects again after a failure, and misses no
   * alert meanwhile.
   */
  streamEvents<T extends keyof Topics>(
    input: {
      topics: readonly T[];
      /** The `id` of the last event that was handled. */
      lastEventId?: string | undefined;
    },
    options?: CallOptions,
  ): AsyncGenerator<TopicEvent<Topics, T>, void>;
};
