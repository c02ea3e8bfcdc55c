import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { passwords, startApp } from '../../../test/support/app.ts';
import { createClient } from '../../../test/support/client.ts';

/** Starts an app, and a function that logs in from a local address. */
const start = async (t: TestContext) => {
  const { url, request } = await startApp(t, { settings: { profiles: ['login', 'alerts'] } });
  const login = async (localAddress: string) => {
    const client = createClient(url, { localAddress });
    const body = { Username: 'admin', Password: passwords.admin };
    return client.request('POST', '/api/auth/login', { body }).finally(client.close);
  };
  return { request, login };
};

const count = (wanted: number, responses: { status: number }[]): number =>
  responses.filter(({ status }) => status === wanted).length;

// By default, only Linux has loopback addresses other than 127.0.0.1.
const skip = process.platform !== 'linux' && 'it needs other loopback addresses';

test('of 50 simultaneous logins at least ten are checked, and the rest get 503 with Retry-After', {
  skip,
}, async (t) => {
  const { request, login } = await start(t);
  await login('127.0.0.1');
  const answers = Promise.all(Array.from({ length: 50 }, (_, index) => login(`127.0.1.${index + 1}`)));
  assert.equal((await request('POST', '/api/alert', { body: { message: 'meanwhile' } })).status, 200);
  const all = await answers;
  assert.ok(count(200, all) >= 10 && count(503, all) > 0, `${count(200, all)} checked`);
  assert.equal(count(200, all) + count(503, all), 50);
  const refused = all.find(({ status }) => status === 503);
  assert.equal(refused?.headers['retry-after'], '1');
  assert.match(String(refused?.json['error']), /Too many logins/);
  assert.equal((await login('127.0.1.1')).status, 200);
});

test('at most eight logins of one address are checked at a time, so other addresses can log in', {
  skip,
}, async (t) => {
  const { login } = await start(t);
  await login('127.0.0.1');
  const answers = Promise.all(Array.from({ length: 50 }, () => login('127.0.1.1')));
  const other = login('127.0.1.2');
  const all = await answers;
  assert.equal((await other).status, 200);
  assert.ok(count(200, all) >= 8 && count(429, all) > 0, `${count(200, all)} checked`);
  assert.equal(count(200, all) + count(429, all), 50);
  assert.equal(all.find(({ status }) => status === 429)?.headers['retry-after'], '1');
  assert.equal((await login('127.0.1.1')).status, 200);
});
