import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CallOptions, ClientFailure, ClientOptions, HeaderOptions } from '../../src/client/types.ts';
import { packageRoot } from '../../src/server/package-info.ts';

type Input = object | undefined;
type Options = CallOptions & HeaderOptions;
type Entries<T> = AsyncGenerator<T, void>;
type Json = Record<string, unknown>;

interface WithVersion<T> {
  data: T;
  version: string | undefined;
  response: Response;
}

type Call<Result> = (name: string, input?: Input, options?: Options) => Result;

export interface Event {
  topic: string;
  data: Json;
  id: string | undefined;
}

/** Client without the types of its routes, because they are unknown until the program is built. */
export interface LooseClient {
  call: Call<Promise<Json>>;
  withResponse: Call<Promise<WithVersion<Json>>>;
  each: Call<Entries<Json>>;
  streamEvents(input: { topics: string[]; lastEventId?: string }, options?: CallOptions): Entries<Event>;
}

interface Built {
  createClient(url: string, options?: ClientOptions): object;
  ClientError: new (...args: unknown[]) => ClientFailure;
}

const toUrl = (file: string): URL => pathToFileURL(join(packageRoot, 'dist', file));

/** URL of the published file. */
export const clientPath = toUrl('client.js');
export const typesPath = toUrl('client.d.ts');

const built: Built = await import(clientPath.href);

const { ClientError } = built;

type Methods = Record<string, (input: unknown, options: unknown) => unknown>;

/** Creates the client from the built file. Its methods are called by name. */
export const createClient = (url: string, options?: ClientOptions): LooseClient => {
  const client = built.createClient(url, options);
  const { withResponse, each, streamEvents } = client as unknown as Record<string, Methods> & LooseClient;
  const callOf = (methods: unknown) => (name: string, input?: Input, given?: Options) => {
    const method = (methods as Methods)[name];
    if (!method) throw new Error(`the client has no method ${name}`);
    return method(input, given);
  };
  return {
    call: callOf(client) as LooseClient['call'],
    withResponse: callOf(withResponse) as LooseClient['withResponse'],
    each: callOf(each) as LooseClient['each'],
    streamEvents,
  };
};

/** Returns the ClientError that the promise rejects with. */
export const catchError = async (promise: Promise<unknown>): Promise<ClientFailure> => {
  const error = await promise.then(
    () => new Error('the call has succeeded'),
    (reason: unknown) => reason,
  );
  if (error instanceof ClientError) return error;
  throw error;
};

/** Returns the first `count` entries, then leaves the loop. */
export const take = async <T>(entries: AsyncIterable<T>, count: number): Promise<T[]> => {
  const taken: T[] = [];
  for await (const entry of entries) if (taken.push(entry) === count) break;
  return taken;
};
