import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { App } from '../../src/app/create-app.ts';
import type { Route } from '../../src/profiles/route.ts';
import { createClaims, createHmacSigner, signToken } from '../conformance/support/tokens.ts';
import { createAppFor, listServedRoutes, readOperations, toRouteName } from './support/api.ts';

type Access = Route['access'];

const secret = 'a signing key of this test alone, 32 bytes';
const password = 'a password of this test alone';
const sign = createHmacSigner(secret);
const now = Math.floor(Date.now() / 1000);

/** Who calls: their token, and the statuses that they get for want of one; all else they get counts as let in. */
const callers: { name: string; token?: string; refused: Partial<Record<Access, number>> }[] = [
  { name: 'no token', refused: { token: 401, admin: 401 } },
  {
    name: 'a bad token',
    token: signToken(createClaims(), { sign: createHmacSigner('x'.repeat(32)) }),
    refused: { token: 401, admin: 401 },
  },
  {
    name: 'an expired token',
    token: signToken(createClaims({ iat: now - 3601, exp: now - 1 }), { sign }),
    refused: { token: 401, admin: 401 },
  },
  { name: 'a Reader', token: signToken(createClaims({ role: 'Reader' }), { sign }), refused: { admin: 403 } },
  { name: 'an Admin', token: signToken(createClaims({ role: 'Admin' }), { sign }), refused: {} },
];

const variants: Record<string, string>[] = [
  {},
  { alertsAuth: 'bearer' },
  { executeAuth: 'none' },
  { profiles: 'protected-tasks,items,login,commands,alerts', alertsAuth: 'bearer' },
  { profiles: 'simple-tasks,items' },
];

/** The methods that reach a route: HEAD too, but for those of simple-tasks. */
const listMethods = (route: Route, app: App): string[] => {
  const answersHead = route.method === 'GET' && app.server.hasRoute({ method: 'HEAD', url: route.path });
  return answersHead ? ['GET', 'HEAD'] : [route.method];
};

/** Right for every route that reads one: what a route does not know is of no use to it. */
const body = JSON.stringify({
  ...{ Title: 'a', title: 'a', message: 'a', command: 'Get-Process -Id 1' },
  ...{ Username: 'admin', Password: password },
});

/** Over the network, since what is injected does not go the short way. */
const statusFor = async (url: string, method: string, path: string, token?: string): Promise<number> => {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const hasBody = method === 'POST' || method === 'PUT';
  const answer = await fetch(url + path.replace(/:\w+/g, '1'), {
    method,
    headers,
    redirect: 'manual',
    ...(hasBody && { body }),
  });
  await answer.arrayBuffer();
  return answer.status;
};

/** The paths that the router knows, read from the tree that it prints. */
const listRegistered = (app: App): string[] => {
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

const variables = { SIGNALBOX_JWT_SECRET: secret, SIGNALBOX_ADMIN_PASSWORD: password };

test('every route of every mount lets in those that its access names, and nobody else', async (t) => {
  let walked = 0;
  for (const flags of variants) {
    const app = await createAppFor(t, flags, variables);
    const url = await app.server.listen({ port: 0, host: '127.0.0.1' });
    for (const route of listServedRoutes(app)) {
      for (const method of listMethods(route, app)) {
        for (const { name, token, refused } of callers) {
          const status = await statusFor(url, method, route.path, token);
          const expected = refused[route.access];
          const what = `${JSON.stringify(flags)}: ${method} ${route.path} with ${name}: ${status}`;
          if (expected === undefined) assert.ok(status < 500 && status !== 401 && status !== 403, what);
          else assert.equal(status, expected, what);
          walked += 1;
        }
      }
    }
  }
  assert.ok(walked > 400, `${walked} requests`);
});

test('nothing is served beside the routes of the mounts but the pages and the OpenAPI document', async (t) => {
  for (const flags of variants) {
    const app = await createAppFor(t, flags, variables);
    await app.server.ready();
    const known = listServedRoutes(app).map(({ path }) => path);
    const others = listRegistered(app).filter((path) => !known.includes(path.replace(/(?<=.)\/$/, '')));
    // As the router prints it: `/docs/*` is below `/docs`.
    const expected = ['/docs', '/docs*', '/openapi.json'];
    assert.deepEqual(others.filter((path) => path !== '/').sort(), expected, JSON.stringify(flags));
  }
});

test('what needs a token is closed in the OpenAPI document, and nothing else is', async (t) => {
  for (const flags of variants) {
    const app = await createAppFor(t, flags, variables);
    const operations = await readOperations(app);
    for (const route of listServedRoutes(app)) {
      const security = route.access === 'open' ? [] : [{ bearer: [] }];
      assert.deepEqual(operations[toRouteName(route)]?.security, security, toRouteName(route));
    }
  }
});
