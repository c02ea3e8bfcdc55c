import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAccessKey } from '../../src/auth/access.ts';
import { passwords, startApp } from '../support/app.ts';
import { answer, type Behaviour, startReceiver } from '../support/receiver.ts';
import { catchError, createClient } from './built-client.ts';

const credentials = { user: 'admin', password: passwords.admin };

/**
 * Starts a server that issues numbered tokens, accepts tokens for which `isAccepted` returns true, and counts logins.
 */
const issueTokens = (expiresIn: number, isAccepted: (token: string) => boolean = () => true) => {
  let logins = 0;
  const behave: Behaviour = (response, { path, headers }) => {
    const send = (status: number, value: unknown) =>
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(value));
    if (path === '/api/auth/login') {
      logins += 1;
      return void send(200, { token: `token ${logins}`, expiresIn });
    }
    const token = headers.authorization?.replace('Bearer ', '') ?? '';
    return void (token !== '' && isAccepted(token) ? send(200, { token }) : send(401, { error: 'Missing token' }));
  };
  return { behave, countLogins: () => logins };
};

test('the first call that needs a token logs in, and simultaneous calls share one login', async (t) => {
  const { behave, countLogins } = issueTokens(3600);
  const { url, requests } = await startReceiver(t, behave);
  const { call } = createClient(url, { credentials });
  assert.equal(requests.length, 0);
  const results = await Promise.all(Array.from({ length: 20 }, () => call('listItems')));
  assert.deepEqual(new Set(results.map(({ token }) => token)), new Set(['token 1']));
  await call('listItems');
  assert.equal(countLogins(), 1);
});

test('a token is renewed before it expires', async (t) => {
  const { behave, countLogins } = issueTokens(2);
  const { url } = await startReceiver(t, behave);
  const { call } = createClient(url, { credentials });
  assert.equal((await call('listItems'))['token'], 'token 1');
  const deadline = performance.now() + 20_000;
  while (countLogins() === 1 && performance.now() < deadline) {
    await call('listItems');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.equal((await call('listItems'))['token'], `token ${countLogins()}`);
  assert.ok(countLogins() >= 2);
});

test('after a 401 each call is sent once more, with one new token for all calls', async (t) => {
  let accepted = 'token 1';
  const { behave, countLogins } = issueTokens(3600, (token) => token === accepted);
  const { url } = await startReceiver(t, behave);
  const { call } = createClient(url, { credentials });
  await call('listItems');
  accepted = 'token 2';
  const results = await Promise.all(Array.from({ length: 10 }, () => call('createItem', { name: 'label printer' })));
  assert.deepEqual(new Set(results.map(({ token }) => token)), new Set(['token 2']));
  assert.equal(countLogins(), 2);
  accepted = 'none';
  assert.equal((await catchError(call('listItems'))).status, 401);
  assert.equal(countLogins(), 3);
});

test('open routes cause no login, unless the server requires a token there', async (t) => {
  const { behave, countLogins } = issueTokens(3600);
  const { url } = await startReceiver(t, behave);
  const { call } = createClient(url, { credentials });
  assert.equal((await call('listTasks'))['token'], 'token 1');
  assert.equal(countLogins(), 1);
  const open = await startApp(t);
  const wrong = createClient(open.url, { credentials: { user: 'admin', password: 'wrong' } });
  assert.equal((await wrong.call('listTasks'))['count'], 0);
});

test('a wrong password is the error of each call that needs a token', async (t) => {
  const { url } = await startApp(t);
  const { call } = createClient(url, { credentials: { user: 'admin', password: 'wrong' } });
  for (const error of await Promise.all([catchError(call('listItems')), catchError(call('listCommands'))])) {
    assert.deepEqual([error.status, error.message], [401, 'Invalid password']);
  }
});

test('a failed login is repeated as often as the settings of the call allow, for any kind of call', async (t) => {
  const { behave, countLogins } = issueTokens(3600);
  const busy = answer(503, { 'Retry-After': '0' });
  const receiver = await startReceiver(t, busy);
  const { call } = createClient(receiver.url, { credentials });
  const attempts = async (name: string, options?: object): Promise<number> => {
    const before = receiver.requests.length;
    assert.equal((await catchError(call(name, { name: 'label printer' }, options))).status, 503);
    return receiver.requests.length - before;
  };
  assert.equal(await attempts('listItems'), 5);
  assert.equal(await attempts('createItem'), 5);
  assert.equal(await attempts('listItems', { retries: 1 }), 2);
  assert.equal(await attempts('createItem', { retries: 0 }), 1);
  assert.ok(receiver.requests.every(({ path }) => path === '/api/auth/login'));
  const first = receiver.requests.length;
  receiver.behave((...given) => (given[2] < first + 2 ? busy : behave)(...given));
  assert.equal((await call('createItem', { name: 'label printer' }))['token'], 'token 1');
  assert.equal(countLogins(), 1);
  receiver.behave(busy);
  assert.equal(await attempts('createItem'), 1);
});

test('a token, or a function that returns a token, is used without a login', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const given = createClient(app.url, { credentials: { token } });
  assert.equal((await given.call('listItems'))['page'], 1);
  const refused: (string | undefined)[] = [];
  const fetched = createClient(app.url, {
    credentials: {
      token: (old) => {
        refused.push(old);
        return old === undefined ? 'an old token' : token;
      },
    },
  });
  assert.equal((await fetched.call('listItems'))['page'], 1);
  assert.deepEqual(refused, [undefined, 'an old token']);
  const wrong = createClient(app.url, { credentials: { token: 'none' } });
  assert.equal((await catchError(wrong.call('listItems'))).status, 401);
});

test('a key opens the routes of its scope', async (t) => {
  const { key, entry } = createAccessKey('backup', ['alerts:write']);
  const { url } = await startApp(t, { settings: { alertsAuth: 'bearer', keys: [entry] } });
  const { call } = createClient(url, { credentials: { key } });
  assert.equal((await call('createAlert', { message: 'disk is full' }))['received'], true);
  assert.equal((await catchError(call('listAlerts'))).status, 401);
  assert.equal((await catchError(createClient(url).call('createAlert', { message: 'x' }))).status, 401);
});

test('errors do not show a password in the address, or a key that cannot be a header', async (t) => {
  assert.throws(() => createClient('http://admin:geheim@127.0.0.1:1'), {
    name: 'TypeError',
    message: 'the address must not contain a user name or password: pass them as credentials',
  });
  const { url } = await startApp(t);
  const broken = createClient(url, { credentials: { key: 'sbk_geheim\nX: y' } });
  await assert.rejects(broken.call('createAlert', { message: 'x' }), {
    name: 'TypeError',
    message: 'the key or token has characters that are not allowed in a header',
  });
});
