import assert from 'node:assert/strict';

/** Sends a request and resolves to its status; a token or key goes into the header Authorization. */
export type Send = (
  method: string,
  path: string,
  token: string | undefined,
  body: object | undefined,
) => Promise<number>;

/** Someone who calls every route, and whether a route admits them where `access` is `login`. */
interface Caller {
  name: string;
  token: string | undefined;
  may(method: string, path: string): boolean;
  /** The status of the others. */
  refused: 401 | 403;
}

/** Tokens and keys of the callers. */
export interface Credentials {
  reader: string;
  admin: string;
  write: string;
  read: string;
  metrics: string;
  /** With `incidents:read` and `incidents:write`. */
  review: string;
  oncall: string;
  beat: string;
}

const unknownKey = `sbk_${'x'.repeat(43)}`;

/** Whoever has the address of a heartbeat needs nothing else. */
const unknownAddress = '00000000-0000-4000-8000-000000000000';

/** A request that every route accepts or finds nothing for: each ignores the fields of the others. */
const body = { Title: 'a', title: 'a', name: 'a', message: 'a', command: 'Get-Process -Id 1' };

const isOpen = (path: string): boolean =>
  /^(\/health|\/livez|\/readyz?|\/openapi\.json)$|\/api\/(auth\/login|setup|acknowledge\/[^/]+)$|^\/ping\/|\/badge\.svg$/.test(
    path,
  );
const isSending = (method: string, path: string): boolean =>
  method === 'POST' && /^(\/api\/alert(\/[a-z\d-]+)?|\/api\/v2\/alerts)$/.test(path);
const isActing = (method: string, path: string): boolean =>
  method !== 'GET' && /^\/api\/(incidents|silences|oncall|v2\/silences?)(\/|$)/.test(path);
/** What people on call need besides, which users need the role for. */
const isOfOncall = (method: string, path: string): boolean =>
  (method === 'PUT' && /^(\/protected)?\/api\/tasks\/[^/]+$/.test(path)) ||
  (method === 'GET' && path === '/api/watches');
const isForAdmins = (path: string): boolean =>
  /^\/api\/(audit|deliveries|destinations|notifications|executions|instances|intake-formats|execute|watches|users|keys)(\/|$)/.test(
    path,
  );
/** What users do with their own sessions, for which no key counts. */
const isOwn = (path: string): boolean => /^\/api\/sessions(\/|$)/.test(path);
const isLast = (method: string): number => Number(method === 'DELETE');
const isReading = (method: string, path: string): boolean => method === 'GET' && !isForAdmins(path);
const isReadingIncidents = (method: string, path: string): boolean =>
  method === 'GET' &&
  /^\/api\/(incidents|silences|heartbeats|oncall|v2|tasks)(\/|$)|^\/protected\/api\/tasks\/./.test(path);
const isReadingAlerts = (method: string, path: string): boolean =>
  method === 'GET' && /^\/api\/(alerts|events)(\/|$)/.test(path);

const listCallers = ({ reader, admin, write, read, metrics, review, oncall, beat }: Credentials): Caller[] => [
  { name: 'nobody', token: undefined, may: (_method, path) => isOpen(path), refused: 401 },
  { name: 'an unknown key', token: unknownKey, may: (_method, path) => isOpen(path), refused: 401 },
  {
    ...{ name: 'a Reader', token: reader, refused: 403 },
    may: (method, path) =>
      isOpen(path) || isReading(method, path) || isSending(method, path) || isActing(method, path) || isOwn(path),
  },
  { name: 'an Admin', token: admin, may: () => true, refused: 403 },
  {
    ...{ name: 'a key with alerts:write', token: write, refused: 401 },
    may: (method, path) => isOpen(path) || isSending(method, path),
  },
  {
    ...{ name: 'a key with alerts:read', token: read, refused: 401 },
    may: (method, path) => isOpen(path) || isReadingAlerts(method, path),
  },
  {
    ...{ name: 'a key with metrics:read', token: metrics, refused: 401 },
    may: (_method, path) => isOpen(path) || path === '/metrics',
  },
  {
    // By name; whoever has an address needs no key.
    ...{ name: 'a key with heartbeats:write', token: beat, refused: 401 },
    may: (_method, path) => isOpen(path),
  },
  {
    ...{ name: 'a key with incidents:read', token: review, refused: 401 },
    may: (method, path) => isOpen(path) || isReadingIncidents(method, path),
  },
  {
    ...{ name: 'a key with incidents:write', token: oncall, refused: 401 },
    may: (method, path) =>
      isOpen(path) ||
      isActing(method, path) ||
      isOfOncall(method, path) ||
      isReadingIncidents(method, path) ||
      isReadingAlerts(method, path),
  },
];

/**
 * Calls every route of an OpenAPI document as everyone, and asserts that each is admitted exactly where `access: login` says so.
 * Resolves to the number of requests, and of those admitted by caller.
 */
export const walkWithLogin = async (
  send: Send,
  { paths }: { paths: Record<string, Record<string, unknown>> },
  credentials: Credentials,
  /** Paths that something in front of the server refuses. */
  isLeftOut: (path: string) => boolean = () => false,
): Promise<Record<string, number>> => {
  const admitted: Record<string, number> = {};
  // Who ends their sessions needs another token.
  const sorted = Object.entries(paths).sort(([one], [other]) => Number(isOwn(one)) - Number(isOwn(other)));
  for (const [template, operations] of sorted) {
    const methods = Object.keys(operations).map((name) => name.toUpperCase());
    for (const method of methods.toSorted((one, other) => isLast(one) - isLast(other))) {
      const path = template.replaceAll('{address}', unknownAddress).replaceAll(/\{\w+\}/g, '1');
      if (isLeftOut(path)) continue;
      for (const caller of listCallers(credentials)) {
        const status = await send(method, path, caller.token, method === 'POST' || method === 'PUT' ? body : undefined);
        const what = `${method} ${path} as ${caller.name}: ${status}`;
        admitted[caller.name] ??= 0;
        if (path.endsWith('/api/auth/login')) assert.equal(status, 401, what);
        // The settings have an administrator, so no code is right.
        else if (path.endsWith('/api/setup')) assert.ok(status === 403 || status === 400, what);
        else if (caller.may(method, path)) {
          assert.ok(status < 500 && status !== 401 && status !== 403, what);
          admitted[caller.name] = (admitted[caller.name] ?? 0) + 1;
        } else assert.equal(status, caller.refused, what);
      }
    }
  }
  return admitted;
};
