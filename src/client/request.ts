import type { Request } from './send.ts';
import type { CallOptions, HeaderOptions } from './types.ts';

/** How a route is called. */
export interface Route {
  /** Its operation id. */
  id: string;
  method: string;
  /** With the base that its profile is mounted on, e.g. `/api/tasks/{id}`. */
  path: string;
}

export type Input = Record<string, unknown>;
export type Options = CallOptions & HeaderOptions;

/** The request of a call, whose input has the parameters of path and query, and the members of the body. */
export const toRequest = ({ id, method, path }: Route, input: Input = {}, options: Options = {}): Request => {
  const { ifMatch, idempotencyKey, ...rest } = options;
  const others = Array.isArray(input) ? input : { ...input };
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = (others as Input)[name];
    if (value === undefined || value === '') throw new TypeError(`${id} needs ${name}`);
    delete (others as Input)[name];
    return encodeURIComponent(String(value));
  });
  const hasBody = method !== 'GET' && method !== 'DELETE';
  return {
    ...{ method, path: filled, ...rest },
    ...(hasBody ? { body: others } : { query: others as Input }),
    headers: { 'If-Match': ifMatch, 'Idempotency-Key': idempotencyKey },
    isRepeatable: method === 'GET' || idempotencyKey !== undefined,
  };
};

/** `crypto.randomUUID` is missing on pages that are not loaded over TLS. */
export const createKey = (): string => crypto.getRandomValues(new Uint32Array(4)).join('-');

/** The version of a record that a response has brought, for `ifMatch`. */
export const toVersion = ({ headers }: Response): string | undefined =>
  // A proxy that compresses responses marks the version as weak.
  headers.get('ETag')?.replace(/^W\//, '');
