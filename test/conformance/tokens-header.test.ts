import { type TestContext, test } from 'node:test';
import { startApp, type TestApp } from '../support/app.ts';
import { createClaims, signToken } from '../support/tokens.ts';
import { assertJson, assertUnauthorized } from './support/assertions.ts';

const start = (t: TestContext): Promise<TestApp> => startApp(t, { settings: { profiles: ['items'] } });

const send = (app: TestApp, authorization: string) => app.request('GET', '/api/items', { headers: { authorization } });

test('a protected route reads the token from the header Authorization: Bearer <token>', async (t) => {
  const app = await start(t);
  assertJson(await send(app, `Bearer ${signToken(createClaims())}`), 200);
});

test('the prefix `Bearer ` is optional: a token without it is accepted, too', async (t) => {
  assertJson(await send(await start(t), signToken(createClaims())), 200);
});

test('a token is read only from the header, not from the query or the body', async (t) => {
  const app = await start(t);
  const token = signToken(createClaims());
  for (const query of [`access_token=${token}`, `token=${token}`, `Authorization=Bearer%20${token}`]) {
    assertUnauthorized(await app.request('GET', `/api/items?${query}`), 'Missing token');
  }
  const headers = { cookie: `token=${token}`, 'x-access-token': token };
  assertUnauthorized(await app.request('GET', '/api/items', { headers }), 'Missing token');
  assertUnauthorized(await app.request('POST', '/api/items', { body: { name: 'a', token } }), 'Missing token');
});

test('a token without exactly three parts gets 401 `Invalid token format`', async (t) => {
  const app = await start(t);
  const token = signToken(createClaims());
  const whole = token.split('.');
  const others = ['x', 'a.b', '.', 'a.b.c.d', '...', `${token}.`, `.${token}`, whole.slice(0, 2).join('.')];
  for (const other of [...others, whole.join('')]) {
    assertUnauthorized(await send(app, `Bearer ${other}`), 'Invalid token format');
  }
});

test('a scheme other than Bearer gets 401', async (t) => {
  const app = await start(t);
  assertUnauthorized(await send(app, 'Basic YWRtaW46YWRtaW4='), 'Invalid token format');
  assertUnauthorized(await send(app, `Token ${signToken(createClaims())}`), /^Token validation failed: ./);
});

test('a missing or empty token gets 401 `Missing token`', async (t) => {
  const app = await start(t);
  assertUnauthorized(await app.request('GET', '/api/items'), 'Missing token');
  for (const authorization of ['', 'Bearer', 'Bearer ', 'Bearer   ']) {
    assertUnauthorized(await send(app, authorization), 'Missing token');
  }
});

test('every 401 of a protected route has {error} as its body and WWW-Authenticate: Bearer', async (t) => {
  const app = await start(t);
  const expired = signToken(createClaims({ iat: 0, exp: 1 }));
  for (const token of ['', 'x', 'a.b.c', expired, `${expired}x`]) {
    for (const [method, body] of [['GET', undefined] as const, ['POST', { name: 'a' }] as const]) {
      assertUnauthorized(await app.request(method, '/api/items', { token, body }), /./);
    }
  }
});
