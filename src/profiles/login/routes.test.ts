import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { passwords, startApp } from '../../../test/support/app.ts';

const start = async (t: TestContext) => {
  const { server, request } = await startApp(t, { settings: { profiles: ['login', 'alerts'] } });
  const login = (remoteAddress: string) =>
    server.inject({
      method: 'POST',
      url: '/api/auth/login',
      headers: { host: 'localhost' },
      remoteAddress,
      payload: JSON.stringify({ Username: 'admin', Password: passwords.admin }),
    });
  return { request, login };
};

const count = (wanted: number, answers: { statusCode: number }[]): number =>
  answers.filter(({ statusCode }) => statusCode === wanted).length;

test('of 50 logins at once ten are checked, the others are told to come back in a second', async (t) => {
  const { request, login } = await start(t);
  await login('127.0.0.1');
  const answers = Promise.all(Array.from({ length: 50 }, (_, index) => login(`192.0.2.${index}`)));
  assert.equal((await request('POST', '/api/alert', { body: { message: 'meanwhile' } })).status, 200);
  const all = await answers;
  assert.ok(count(200, all) >= 10 && count(503, all) > 0, `${count(200, all)} checked`);
  assert.equal(count(200, all) + count(503, all), 50);
  const refused = all.find(({ statusCode }) => statusCode === 503);
  assert.equal(refused?.headers['retry-after'], '1');
  assert.match(refused?.json().error, /Too many logins/);
  assert.equal((await login('192.0.2.1')).statusCode, 200);
});

test('one address has eight logins checked at once, which leaves room for others', async (t) => {
  const { login } = await start(t);
  await login('127.0.0.1');
  const answers = Promise.all(Array.from({ length: 50 }, () => login('192.0.2.1')));
  const other = login('192.0.2.2');
  const all = await answers;
  assert.equal((await other).statusCode, 200);
  assert.ok(count(200, all) >= 8 && count(429, all) > 0, `${count(200, all)} checked`);
  assert.equal(count(200, all) + count(429, all), 50);
  assert.equal(all.find(({ statusCode }) => statusCode === 429)?.headers['retry-after'], '1');
  assert.equal((await login('192.0.2.1')).statusCode, 200);
});
