import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { passwords, startApp } from '../support/app.ts';
import { type Client, createClient } from '../support/client.ts';
import { createFolder } from '../support/folder.ts';
import { startProgram } from '../support/program.ts';
import { assertError, assertUnauthorized } from './support/assertions.ts';

const variables = {
  SIGNALBOX_ADMIN_PASSWORD: passwords.admin,
  SIGNALBOX_READER_PASSWORD: passwords.reader,
};

const startLogin = (t: TestContext, settings: Record<string, unknown> = {}) =>
  startApp(t, { settings: { profiles: ['login'], ...settings } });

const body = (Username: string, Password: string) => ({ body: { Username, Password } });

// By default, only Linux has loopback addresses other than 127.0.0.1.
const loopback = process.platform !== 'linux' && 'it needs a second loopback address';

test('of 1,000 wrong logins on 50 connections, 99 % get 429 while other requests are served', {
  skip: loopback,
}, async (t) => {
  const { url } = await startProgram(t, ['--data-dir', createFolder(t)], { variables });
  const attacker = createClient(url, { localAddress: '127.0.0.1', connections: 50 });
  const owner = createClient(url, { localAddress: '127.0.0.2' });
  t.after(() => [attacker, owner].map(({ close }) => close()));
  const login = ({ request }: Client, password: string) => request('POST', '/api/auth/login', body('admin', password));
  const wrong = Array.from({ length: 1000 }, (_, index) => login(attacker, `guess ${index}`));
  const meanwhile = [
    login(owner, passwords.admin),
    owner.request('GET', '/health'),
    owner.request('GET', '/api/tasks'),
  ];
  assert.deepEqual(
    (await Promise.all(meanwhile)).map(({ status }) => status),
    [200, 200, 200],
  );
  const answers = await Promise.all(wrong);
  const refused = answers.filter(({ status }) => status === 429);
  assert.ok(refused.length >= 990, `${refused.length} of 1,000`);
  for (const { headers, json } of refused) {
    assert.match(String(headers['retry-after']), /^[1-9]\d*$/);
    assert.match(String(json['error']), /^Too many logins from this address; try again in \d+ s$/);
  }
  assert.equal((await login(attacker, passwords.admin)).status, 429);
  assert.equal((await attacker.request('GET', '/health')).status, 200);
  assert.equal((await login(owner, passwords.admin)).status, 200);
});

test('after eight wrong logins an address gets 429 before any password is checked', async (t) => {
  const app = await startLogin(t);
  const login = (name: string, password: string) => app.request('POST', '/api/auth/login', body(name, password));
  for (let count = 0; count < 4; count += 1) {
    assertUnauthorized(await login('admin', 'wrong'), 'Invalid password');
    assertUnauthorized(await login('nobody', 'wrong'), 'Unknown user');
  }
  for (const [name, password] of [
    ['admin', passwords.admin],
    ['reader', 'x'],
    ['nobody', ''],
    ['', ''],
  ] as const) {
    const answer = await login(name, password);
    assertError(answer, 429, 'Too many logins from this address; try again in 10 s');
    assert.equal(answer.headers['retry-after'], '10');
  }
});

test('a login without a name, or with an impossible password, does not count towards the limits', async (t) => {
  const app = await startLogin(t);
  for (let count = 0; count < 5; count += 1) {
    for (const Password of ['', 'x'.repeat(129), null]) {
      const answer = await app.request('POST', '/api/auth/login', { body: { Username: 'admin', Password } });
      assertUnauthorized(answer, 'Invalid password');
    }
    assertUnauthorized(await app.request('POST', '/api/auth/login', { body: {} }), 'Unknown user');
  }
  assert.equal(typeof (await app.login('admin')), 'string');
});

test('login limits of 0 turn the delays off', async (t) => {
  const app = await startLogin(t, { loginTriesPerAddress: 0, loginTriesPerUser: 0, loginTriesInTotal: 0 });
  for (let count = 0; count < 40; count += 1) {
    assertUnauthorized(await app.request('POST', '/api/auth/login', body('nobody', 'wrong')), 'Unknown user');
  }
});

test('a successful login clears the earlier failures of its user', async (t) => {
  const app = await startLogin(t, { loginTriesPerAddress: 2 });
  for (let count = 0; count < 3; count += 1) {
    assertUnauthorized(await app.request('POST', '/api/auth/login', body('admin', 'wrong')), 'Invalid password');
    assert.equal(typeof (await app.login('admin')), 'string');
  }
});
