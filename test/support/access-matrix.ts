import assert from 'node:assert/strict';
import { type AccessKey, createAccessKey } from '../../src/auth/access.ts';
import { hasRole, hasScope, type Right, type Scope, scopes } from '../../src/auth/rights.ts';

/** Sends a request and resolves to its status. A token or key goes into the Authorization header. */
export type Send = (
  method: string,
  path: string,
  token: string | undefined,
  body: object | undefined,
) => Promise<number>;

/** Caller in the matrix. Each calls every route. */
interface Caller {
  name: string;
  token: string | undefined;
  /** True if the caller has the right. */
  has(right: Right): boolean;
  /** Status of a refusal. For a key, 401 on the specification's routes. */
  refused: 401 | 403 | 'key';
}

/** Tokens of both roles, and keys by scope. Scopes without a key are not tried. */
export interface Credentials {
  reader: string;
  admin: string;
  keys: Partial<Record<Scope, string>>;
}

const unknownKey = `sbk_${'x'.repeat(43)}`;

/** Address that belongs to no heartbeat. The heartbeat routes require nothing but an address. */
const unknownAddress = '00000000-0000-4000-8000-000000000000';

/** Body that every route accepts because it ignores unknown fields, or whose target does not exist. */
const body = { Title: 'a', title: 'a', name: 'a', message: 'a', command: 'Get-Process -Id 1' };

const isOpen = (path: string): boolean =>
  /^(\/health|\/livez|\/readyz?|\/openapi\.json)$|\/api\/(auth\/login|setup|acknowledge\/[^/]+|hosts\/enrol)$|^\/(ping|oncall)\/|\/badge\.svg$|^\/status\/|\/api\/(status-page\/|v2\/summary\.json$)/.test(
    path,
  );
/** True for routes in the specification, on which a key without the scope counts as a token without three parts. */
const isSpecified = (path: string): boolean =>
  /^(\/protected|\/simple)?\/api\/(tasks|items|health|info|processes|disks|alert|alerts|execute)$|\/api\/tasks\/[^/]+$/.test(
    path,
  );
const isLast = (method: string): number => Number(method === 'DELETE');
/** Sorts the route that ends the caller's tokens last. */
const endsSessions = (path: string): number => Number(path === '/api/sessions');

const listCallers = ({ reader, admin, keys }: Credentials): Caller[] => [
  { name: 'nobody', token: undefined, has: () => false, refused: 401 },
  { name: 'an unknown key', token: unknownKey, has: () => false, refused: 401 },
  { name: 'a Reader', token: reader, has: (right) => hasRole(right, 'Reader'), refused: 403 },
  { name: 'an Admin', token: admin, has: (right) => hasRole(right, 'Admin'), refused: 403 },
  ...scopes
    .filter((scope) => keys[scope] !== undefined)
    .map(
      (scope): Caller => ({
        name: `a key with ${scope}`,
        token: keys[scope],
        has: (right) => hasScope(right, [scope]),
        refused: 'key',
      }),
    ),
];

/** Creates a key for each scope, and the entries that make a server accept these keys. */
export const createScopeKeys = (): { keys: Record<Scope, string>; entries: AccessKey[] } => {
  const created = scopes.map((scope) => [scope, createAccessKey(scope.replace(':', '-'), [scope])] as const);
  const keys = Object.fromEntries(created.map(([scope, { key }]) => [scope, key])) as Record<Scope, string>;
  return { keys, entries: created.map(([, { entry }]) => entry) };
};

type Operations = Record<string, { 'x-signalbox-right'?: Right }>;

/**
 * Calls every route of an OpenAPI document as every caller, and asserts that `access: login` decides each admission.
 * Resolves to the number of requests, and to the number of admitted requests by caller.
 */
export const walkWithLogin = async (
  send: Send,
  { paths }: { paths: Record<string, Operations> },
  credentials: Credentials,
): Promise<Record<string, number>> => {
  const admitted: Record<string, number> = {};
  const sorted = Object.entries(paths).sort(([one], [other]) => endsSessions(one) - endsSessions(other));
  for (const [template, operations] of sorted) {
    const methods = Object.keys(operations).map((name) => name.toUpperCase());
    for (const method of methods.toSorted((one, other) => isLast(one) - isLast(other))) {
      const path = template.replaceAll('{address}', unknownAddress).replaceAll(/\{\w+\}/g, '1');
      for (const caller of listCallers(credentials)) {
        const status = await send(method, path, caller.token, method === 'POST' || method === 'PUT' ? body : undefined);
        const what = `${method} ${path} as ${caller.name}: ${status}`;
        admitted[caller.name] ??= 0;
        if (path.endsWith('/api/auth/login')) assert.equal(status, 401, what);
        // The settings already contain an administrator, so every code is wrong.
        else if (path.endsWith('/api/setup')) assert.ok(status === 403 || status === 400, what);
        else if (isOpen(path) || rightsOf(path, operations[method.toLowerCase()]).every((right) => caller.has(right))) {
          assert.ok(status < 500 && status !== 401 && status !== 403, what);
          admitted[caller.name] = (admitted[caller.name] ?? 0) + 1;
        } else assert.equal(status, toRefusal(caller, path), what);
      }
    }
  }
  return admitted;
};

const toRefusal = ({ refused }: Caller, path: string): number => {
  if (refused !== 'key') return refused;
  return isSpecified(path) ? 401 : 403;
};

/**
 * Returns the rights that a route needs. The event stream is requested with the topic `alerts`, and that topic needs a
 * separate right.
 */
const rightsOf = (path: string, operation: Operations[string] | undefined): Right[] => [
  operation?.['x-signalbox-right'] ?? 'settings:write',
  ...(path === '/api/events' ? (['alerts:read'] as const) : []),
];
