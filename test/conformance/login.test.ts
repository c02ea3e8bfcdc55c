import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { passwords, startApp, type TestApp } from '../support/app.ts';
import type { JsonResponse } from '../support/client.ts';
import { assertError, assertJson, assertUnauthorized } from './support/assertions.ts';

const startLogin = (t: TestContext): Promise<TestApp> => startApp(t, { settings: { profiles: ['login'] } });

const logIn = (app: TestApp, body: unknown): Promise<JsonResponse<Record<string, unknown>>> =>
  app.request('POST', '/api/auth/login', { body });

test('a login returns 200 with token, tokenType, expiresIn and role, in this order', async (t) => {
  const answer = await logIn(await startLogin(t), { Username: 'admin', Password: passwords.admin });
  assertJson(answer, 200);
  assert.deepEqual(Object.keys(answer.json), ['token', 'tokenType', 'expiresIn', 'role']);
});

test('tokenType is Bearer and expiresIn is 3600', async (t) => {
  const { json } = await logIn(await startLogin(t), { Username: 'reader', Password: passwords.reader });
  assert.deepEqual([json['tokenType'], json['expiresIn']], ['Bearer', 3600]);
});

test('role is Admin for an administrator and Reader for a reader', async (t) => {
  const app = await startLogin(t);
  const admin = await logIn(app, { Username: 'admin', Password: passwords.admin });
  const reader = await logIn(app, { Username: 'reader', Password: passwords.reader });
  assert.deepEqual([admin.json['role'], reader.json['role']], ['Admin', 'Reader']);
});

test('a login of an unknown user gets 401 `Unknown user` and issues no token', async (t) => {
  const app = await startApp(t, { settings: { profiles: ['login'], loginTriesPerAddress: 0 } });
  const names = ['nobody', 'Admin', 'ADMIN', ' admin', 'admin ', 'admin\u0000', '__proto__', 'constructor', 'toString'];
  for (const Username of names) {
    assertUnauthorized(await logIn(app, { Username, Password: passwords.admin }), 'Unknown user');
  }
});

test('a login with a wrong password gets 401 `Invalid password` and issues no token', async (t) => {
  const app = await startLogin(t);
  const others = [passwords.reader, passwords.admin.toUpperCase(), `${passwords.admin} `, `${passwords.admin}\u0000`];
  for (const Password of ['wrong', ...others, 'x'.repeat(100_000), '__proto__']) {
    assertUnauthorized(await logIn(app, { Username: 'admin', Password }), 'Invalid password');
  }
});

test('a login needs no token and ignores an invalid one', async (t) => {
  const app = await startLogin(t);
  const body = { Username: 'admin', Password: passwords.admin };
  assertJson(await app.request('POST', '/api/auth/login', { body, token: 'nonsense' }), 200);
});

test('the correct password works after a failed login', async (t) => {
  const app = await startLogin(t);
  assertUnauthorized(await logIn(app, { Username: 'admin', Password: 'wrong' }), 'Invalid password');
  assertJson(await logIn(app, { Username: 'admin', Password: passwords.admin }), 200);
});

test('field names of a login are case-sensitive, and other fields are ignored', async (t) => {
  const app = await startLogin(t);
  const lower = { username: 'admin', password: passwords.admin };
  assertUnauthorized(await logIn(app, lower), 'Unknown user');
  const answer = await logIn(app, { Username: 'reader', Password: passwords.reader, role: 'Admin', exp: 1 });
  assert.equal(answer.json['role'], 'Reader');
});

test('a user name or password that is not a string is rejected', async (t) => {
  const app = await startLogin(t);
  for (const value of [0, 1, true, false, [], ['admin'], {}, { $ne: '' }]) {
    assertError(await logIn(app, { Username: value, Password: 'x' }), 400, /Username/);
    assertError(await logIn(app, { Username: 'admin', Password: value }), 400, /Password/);
  }
});

test('a login without a user name is refused like an unknown user', async (t) => {
  const app = await startLogin(t);
  for (const body of [{}, { Password: passwords.admin }, { Username: null }, { Username: '', Password: 'x' }]) {
    assertUnauthorized(await logIn(app, body), 'Unknown user');
  }
});

test('a login without a password is refused like a wrong password', async (t) => {
  const app = await startLogin(t);
  for (const body of [
    { Username: 'admin' },
    { Username: 'admin', Password: null },
    { Username: 'admin', Password: '' },
  ]) {
    assertUnauthorized(await logIn(app, body), 'Invalid password');
  }
});
