/**
 * Types of the client that do not depend on the routes. The build copies this file into client.d.ts, after the types of
 * the routes, so it imports nothing.
 */

/** Credentials of the client: a login, a token, or a key as described in docs/guides/keys.md. */
export type ClientCredentials =
  | { user: string; password: string }
  | {
      /**
       * Token, or a function that returns it. The function is called for each request and, after a 401, again with the
       * refused token.
       */
      token: string | ((refused?: string) => string | undefined | Promise<string | undefined>);
    }
  | { key: string };

export interface ClientOptions {
  credentials?: ClientCredentials;
  /** Mounts of the profiles that are not at their default paths: `{ 'simple-tasks': '/todo' }`. */
  mounts?: Record<string, string>;
  /**
   * Milliseconds for a call, including all its attempts. For a list read by `each`, milliseconds between pieces.
   * Default: 30000.
   */
  timeout?: number;
  /** Maximum number of retries of a repeatable request. Default: 4. */
  retries?: number;
  /** Replacement for the global `fetch`. */
  fetch?: typeof fetch;
}

export interface CallOptions {
  /** Signal that aborts the call. The call then throws the signal's reason. */
  signal?: AbortSignal;
  /** Overrides the client's timeout. */
  timeout?: number;
  /** Overrides the client's retries. */
  retries?: number;
}

export interface HeaderOptions {
  /** `version` from an earlier response. If the record has changed since then, the server responds with 412. */
  ifMatch?: string;
  /** With `*`, the server responds with 412 if the record already exists. */
  ifNoneMatch?: '*';
  /** Replaces the random idempotency key. The key makes the server store a request once, however often it is sent. */
  idempotencyKey?: string;
}

/** Error thrown for a failed request. */
export interface ClientFailure extends Error {
  /**
   * `status`: the server refused the request. `connection`: there was no complete response. `timeout`: there was no
   * response in time. `format`: the response is neither JSON nor a stream of events, so the server may not be
   * signalbox.
   */
  readonly code: 'status' | 'connection' | 'timeout' | 'format';
  /** Status of the response. 0 without a response. */
  readonly status: number;
  /** Seconds until the server accepts another attempt. */
  readonly retryAfter: number | undefined;
  /** Body of the response: the parsed value if it is JSON, else its text. */
  readonly body: unknown;
  /** Id of a request that failed with 500. The server's log contains the same id. */
  readonly requestId: string | undefined;
}

/** Types of one route. */
export interface OperationTypes {
  /** Path parameters, query parameters and members of the body, in one object. */
  input: unknown;
  output: unknown;
  /** Headers that the route reads. */
  headers: keyof HeaderOptions;
  /** Entry of the list, if the route returns a list. */
  entry: unknown;
  /** Input that requests CSV, if the route can send CSV. */
  csvInput: unknown;
}

/** Route in the form that openapi-typescript generates. */
interface Described {
  parameters: { query?: unknown; path?: unknown; header?: unknown };
  responses: Record<number, { content: Record<string, unknown> }>;
}

/** Input whose optional parameters may also be undefined. Unknown without parameters. */
type Given<T> = [T] extends [never] ? unknown : { [K in keyof T]: object extends Pick<T, K> ? T[K] | undefined : T[K] };
type Parameters<O extends Described> = Given<NonNullable<O['parameters']['path']>> &
  Given<NonNullable<O['parameters']['query']>>;
/** Type of the body. `object` for routes whose bodies are not described because they can take many forms. */
type Body<T> = unknown extends T ? object : T;
type Input<O extends Described> = O extends { requestBody: { content: { 'application/json': infer T } } }
  ? Parameters<O> & Body<T>
  : unknown extends Parameters<O>
    ? undefined
    : object extends Parameters<O>
      ? Parameters<O> | undefined
      : Parameters<O>;
/** JSON if the route can send JSON. Clients that accept other types get these types from some routes. */
type Output<O extends Described> = Preferred<Content<O>>;
type Content<O extends Described> = Values<O['responses']> extends { content: infer C } ? C : never;
type Preferred<C> = C extends { 'application/json': infer J } ? J : Values<C>;
type Values<T> = T[keyof T];
type Entry<T> = T extends readonly (infer E)[] | { data: readonly (infer E)[] }
  ? E extends object
    ? E
    : never
  : never;
type Names<T> = [T] extends [never] ? never : keyof T;
type HeaderNames = { 'If-Match': 'ifMatch'; 'If-None-Match': 'ifNoneMatch'; 'Idempotency-Key': 'idempotencyKey' };

type Csv<C> = C extends { 'text/csv': infer T } ? T : never;
/** Input that requests JSON or CSV, for routes that can send both. */
type JsonInput<I> = I extends { format?: infer F } ? Omit<I, 'format'> & { format?: Exclude<F, 'csv'> } : I;
type CsvInput<I> = NonNullable<I> & { format: 'csv' };

export interface ToOperation<O extends Described> extends OperationTypes {
  input: [Csv<Content<O>>] extends [never] ? Input<O> : JsonInput<Input<O>>;
  output: Output<O>;
  headers: HeaderNames[Names<NonNullable<O['parameters']['header']>> & keyof HeaderNames];
  entry: Entry<Output<O>>;
  csvInput: [Csv<Content<O>>] extends [never] ? never : CsvInput<Input<O>>;
}

type Arguments<O extends OperationTypes> = undefined extends O['input']
  ? [input?: O['input'], options?: CallOptions & Pick<HeaderOptions, O['headers']>]
  : [input: O['input'], options?: CallOptions & Pick<HeaderOptions, O['headers']>];

export interface WithResponse<T> {
  data: T;
  /** Version of the record, for `ifMatch`. */
  version: string | undefined;
  /** Response whose body has been read. */
  response: Response;
}

/** `resync`: some events on these topics may have been missed. Reload the data of the topics. */
export type TopicEvent<Topics, T extends keyof Topics> =
  | { [K in T]: { topic: K; data: Topics[K]; id: string | undefined } }[T]
  | { topic: 'resync'; data: { topics: T[] }; id: string | undefined };

/** Names of the methods that return text if `format` is `csv`. */
type CsvNames<Operations extends { [K in keyof Operations]: OperationTypes }> = {
  [K in keyof Operations]: [Operations[K]['csvInput']] extends [never] ? never : K;
}[keyof Operations];

export type Client<Operations extends { [K in keyof Operations]: OperationTypes }, Topics> = {
  [K in keyof Operations]: (...args: Arguments<Operations[K]>) => Promise<Operations[K]['output']>;
} & {
  [K in CsvNames<Operations>]: (input: Operations[K]['csvInput'], options?: CallOptions) => Promise<string>;
} & {
  /** The same methods, but each returns the response and the version along with the data. */
  withResponse: {
    [K in keyof Operations]: (...args: Arguments<Operations[K]>) => Promise<WithResponse<Operations[K]['output']>>;
  } & {
    [K in CsvNames<Operations>]: (
      input: Operations[K]['csvInput'],
      options?: CallOptions,
    ) => Promise<WithResponse<string>>;
  };
  /** Methods that yield the entries of a list one by one, either page by page or as the response arrives. */
  each: {
    [K in keyof Operations as [Operations[K]['entry']] extends [never] ? never : K]: (
      ...args: Arguments<Operations[K]>
    ) => AsyncGenerator<Operations[K]['entry'], void>;
  };
  /**
   * Yields events as they happen, until the loop is left or the signal is aborted. After a failure, reconnects without
   * missing alerts.
   */
  streamEvents<T extends keyof Topics>(
    input: {
      topics: readonly T[];
      /** `id` of the last event that the caller has handled. */
      lastEventId?: string | undefined;
    },
    options?: CallOptions,
  ): AsyncGenerator<TopicEvent<Topics, T>, void>;
};
