import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasRole, rightNames, rights, scopesOf } from '../../src/auth/rights.ts';
import { features } from '../../src/features/index.ts';
import type { Route } from '../../src/kit/route.ts';
import { createScopeKeys, walkWithLogin } from '../support/access-matrix.ts';
import { passwords, startApp, type TestApp } from '../support/app.ts';
import { createClaims, createHmacSigner, signToken } from '../support/tokens.ts';
import { listServedRoutes, readOperations, toRouteName } from './support/api.ts';

type Access = Route['access'];

const now = Math.floor(Date.now() / 1000);

/** Callers with their tokens and the statuses of a refusal. Any other status counts as admitted. */
const callers: { name: string; token?: string; refused: Partial<Record<Access, number>> }[] = [
  { name: 'no token', refused: { token: 401, admin: 401 } },
  {
    name: 'a bad token',
    token: signToken(createClaims(), { sign: createHmacSigner('x'.repeat(32)) }),
    refused: { token: 401, admin: 401 },
  },
  {
    name: 'an expired token',
    token: signToken(createClaims({ iat: now - 3601, exp: now - 1 })),
    refused: { token: 401, admin: 401 },
  },
  { name: 'a Reader', token: signToken(createClaims({ sub: 'reader', role: 'Reader' })), refused: { admin: 403 } },
  { name: 'an Admin', token: signToken(createClaims({ role: 'Admin' })), refused: {} },
];

const variants: Record<string, unknown>[] = [
  {},
  { alertsAuth: 'bearer', executeAuth: 'none' },
  { profiles: ['protected-tasks', 'items', 'login', 'commands', 'alerts'], alertsAuth: 'bearer' },
  { profiles: ['simple-tasks', 'items'] },
  { access: 'login' },
  {
    access: { tasks: 'login', M: 'admin', alerts: 'admin', commands: 'open', 'simple-tasks': 'admin', events: 'login' },
  },
];

/** Lists the methods that reach a route. For GET, that includes HEAD, except in simple-tasks. */
const listMethods = (route: Route, app: TestApp): string[] => {
  const answersHead = route.method === 'GET' && app.server.hasRoute({ method: 'HEAD', url: route.path });
  return answersHead ? ['GET', 'HEAD'] : [route.method];
};

/** Body that every route accepts, because routes ignore unknown fields. */
const body = {
  Title: 'a',
  title: 'a',
  message: 'a',
  command: 'Get-Process -Id 1',
  Username: 'admin',
  Password: passwords.admin,
};

/** Address that belongs to no heartbeat. The routes for an address need no token. */
const unknownAddress = '00000000-0000-4000-8000-000000000000';

const statusFor = async ({ request }: TestApp, method: string, path: string, token?: string): Promise<number> => {
  const hasBody = method === 'POST' || method === 'PUT';
  const options = { ...(token !== undefined && { token }), ...(hasBody && { body }) };
  return (await request(method, path.replace(':address', unknownAddress).replace(/:\w+/g, '1'), options)).status;
};

/** Lists the router's paths, parsed from the tree that it prints. */
const listRegistered = (app: TestApp): string[] => {
  const parents: string[] = [];
  return app.server
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const [, indent = '', part = '', methods] = /^([│ ]*[├└]── )(\S*)(?: \((.*)\))?$/.exec(line) ?? [];
      const depth = indent.length / 4;
      const path = `${parents[depth - 1] ?? ''}${part}`;
      parents[depth] = path;
      return methods ? [path] : [];
    });
};

for (const settings of variants) {
  test(`every route admits exactly the callers that its access allows, with ${JSON.stringify(settings)}`, async (t) => {
    let walked = 0;
    const app = await startApp(t, { settings });
    // Comes last, because the route that ends the caller's sessions invalidates the token.
    const isLast = ({ path, method }: Route): number => Number(method === 'DELETE' && path === '/api/sessions');
    for (const route of listServedRoutes(app).toSorted((one, other) => isLast(one) - isLast(other))) {
      for (const method of listMethods(route, app)) {
        for (const { name, token, refused } of callers) {
          const status = await statusFor(app, method, route.path, token);
          // Only keys can have the rights of hosts.
          const isForKeys = route.access !== 'open' && !hasRole(route.right, 'Admin');
          const expected = isForKeys ? (refused.admin ?? 403) : refused[route.access];
          const what = `${method} ${route.path} with ${name}: ${status}`;
          if (expected === undefined) assert.ok(status < 500 && status !== 401 && status !== 403, what);
          else assert.equal(status, expected, what);
          walked += 1;
        }
      }
    }
    assert.ok(walked > 20, `${walked} requests`);
  });
}

test('only routes of the mounts, pages and the OpenAPI document are served', async (t) => {
  for (const settings of variants) {
    const app = await startApp(t, { settings });
    const known = listServedRoutes(app).map(({ path }) => path);
    const others = listRegistered(app).filter((path) => !known.includes(path.replace(/(?<=.)\/$/, '')));
    // The router prints `/docs/*` below `/docs`, and likewise for the console.
    const expected = ['/console', '/console*', '/docs', '/docs*', '/openapi.json'];
    assert.deepEqual(others.filter((path) => path !== '/').sort(), expected, JSON.stringify(settings));
  }
});

test('the OpenAPI document marks exactly the routes that need a token and the routes that accept a key', async (t) => {
  for (const settings of variants) {
    const app = await startApp(t, { settings });
    const operations = await readOperations(app);
    for (const route of listServedRoutes(app)) {
      const key = scopesOf(route.right).length === 0 ? [] : [{ key: [...scopesOf(route.right)] }];
      const bearer = route.access === 'admin' ? ['Admin'] : ['Admin', 'Reader'];
      const security = route.access === 'open' ? [] : [{ bearer }, ...key];
      assert.deepEqual(operations[toRouteName(route)]?.security, security, toRouteName(route));
    }
  }
});

const { keys, entries } = createScopeKeys();

test('with `access: login` every caller gets exactly the routes promised in the documents', async (t) => {
  const app = await startApp(t, { settings: { access: 'login', keys: entries, loginTriesPerAddress: 0 } });
  const { json } = await app.request<Parameters<typeof walkWithLogin>[1]>('GET', '/openapi.json');
  const credentials = { reader: await app.login('reader'), admin: await app.login('admin'), keys };
  const query = (path: string) => (path === '/api/events' ? '?topics=alerts' : '');
  const admitted = await walkWithLogin(
    async (method, path, token, body) => {
      // The stream of events would not end.
      const sent = path === '/api/events' ? 'HEAD' : method;
      return (await app.request(sent, path + query(path), { ...(token && { token }), ...(body && { body }) })).status;
    },
    json,
    credentials,
  );
  t.diagnostic(JSON.stringify(admitted));
  assert.ok((admitted['an Admin'] ?? 0) > 45 && (admitted['a Reader'] ?? 0) > 30, JSON.stringify(admitted));
});

test('a Reader reads all but secrets, users, keys and the audit, and changes incidents, tasks and their own account', () => {
  const refused = rightNames.filter((right) => !hasRole(right, 'Reader'));
  assert.deepEqual(refused.sort(), [
    'accounts:manage',
    'audit:read',
    'commands:run',
    'heartbeats:create',
    'hosts:create',
    'hosts:report',
    'settings:write',
  ]);
  assert.ok(Object.values(rights).every(({ title }) => title.length > 0));
  const opened = rightNames.filter((right) => scopesOf(right).length > 0);
  const people = ['accounts:manage', 'audit:read', 'commands:run', 'settings:write', 'account:own'];
  assert.deepEqual(
    opened.filter((right) => people.includes(right)),
    [],
  );
});

test('with `access: login` each topic of /api/events needs a token', async (t) => {
  const app = await startApp(t, { settings: { access: 'login', keys: entries } });
  const token = await app.login('reader');
  const statusOf = async (topics: string, caller?: string) =>
    (await app.request('HEAD', `/api/events?topics=${topics}`, { token: caller })).status;
  const { text } = await app.request('GET', '/api/events', { token });
  const topics = text.match(/at least one of ([\w, -]+)/)?.[1]?.split(', ') ?? [];
  assert.ok(topics.length > 4, text);
  for (const topic of topics) {
    const isForAdmins = topic === 'executions';
    assert.equal(await statusOf(topic), 401, topic);
    assert.equal(await statusOf(topic, token), isForAdmins ? 403 : 200, topic);
    assert.equal(await statusOf(topic, keys['alerts:read']), topic === 'alerts' ? 200 : 403, topic);
  }
});

test('a profile whose contract needs a token cannot be opened, and only such profiles are marked', async (t) => {
  const app = await startApp(t);
  const marked = features.flatMap(({ profiles }) =>
    profiles.filter(({ fixedAccess }) => fixedAccess === 'closed').map(({ name }) => name),
  );
  const needing = app.mounts.flatMap(({ profiles }) =>
    profiles.filter(({ routes }) => routes.some((route) => route.access === 'token' && !route.canBeOpen)),
  );
  // Instances need a database. Settings of alerts and notifications stay closed without a mark.
  assert.deepEqual(
    marked.sort(),
    [...new Set([...needing.map(({ name }) => name), 'instances'])]
      .filter((name) => !['alerts', 'notifications'].includes(name))
      .sort(),
  );
});
