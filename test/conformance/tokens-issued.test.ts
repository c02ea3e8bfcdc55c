import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startApp, type TestApp } from '../support/app.ts';
import { createClaims, createHmacSigner, readPart, signToken } from '../support/tokens.ts';
import { assertJson } from './support/assertions.ts';

const start = (t: TestContext, settings: object = {}): Promise<TestApp> =>
  startApp(t, { settings: { profiles: ['protected-tasks', 'login'], ...settings } });

test('an issued token has three dot-separated base64url parts', async (t) => {
  const token = await (await start(t)).login('admin');
  assert.match(token, /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/);
});

test('the header of an issued token is alg HS256 and typ JWT', async (t) => {
  const token = await (await start(t)).login('admin');
  assert.deepEqual(readPart(token, 0), { alg: 'HS256', typ: 'JWT' });
});

test('an issued token has the claims sub, role, iss, iat and exp, and no others', async (t) => {
  const app = await start(t);
  for (const [name, role] of [['admin', 'Admin'] as const, ['reader', 'Reader'] as const]) {
    const claims = readPart(await app.login(name), 1);
    assert.deepEqual(Object.keys(claims), ['sub', 'role', 'iss', 'iat', 'exp']);
    assert.deepEqual([claims['sub'], claims['role']], [name, role]);
  }
});

test('iat is the time of issue in Unix seconds, exp is 3600 seconds later', async (t) => {
  const app = await start(t);
  const earliest = Math.floor(Date.now() / 1000);
  const { iat, exp } = readPart(await app.login('admin'), 1) as { iat: number; exp: number };
  assert.ok(Number.isInteger(iat) && earliest <= iat && iat <= Date.now() / 1000);
  assert.equal(exp, iat + 3600);
});

test('iss is the configured issuer, equal in all tokens', async (t) => {
  const usual = await start(t);
  assert.equal(readPart(await usual.login('admin'), 1)['iss'], 'signalbox');
  assert.equal(readPart(await usual.login('reader'), 1)['iss'], 'signalbox');
  const named = await start(t, { jwtIssuer: 'tower 3' });
  assert.equal(readPart(await named.login('admin'), 1)['iss'], 'tower 3');
});

test('an issued token is signed with HMAC-SHA-256 and the configured secret', async (t) => {
  const token = await (await start(t)).login('admin');
  assert.equal(token, signToken(readPart(token, 1), { sign: createHmacSigner() }));
});

test('an issued token can be used repeatedly on the protected routes', async (t) => {
  const app = await start(t);
  const token = await app.login('reader');
  for (let count = 0; count < 3; count++) assertJson(await app.request('GET', '/api/tasks', { token }), 200);
});

test('a token identifies its user by sub, even if that user cannot log in', async (t) => {
  const app = await start(t);
  for (const sub of ['admin', 'someone else', '漢字', '__proto__', '"quoted"']) {
    const { json } = await app.request('GET', '/api/tasks', { token: signToken(createClaims({ sub })) });
    assert.equal(json['user'], sub);
  }
});
