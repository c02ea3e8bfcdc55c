import assert from 'node:assert/strict';
import { test } from 'node:test';
import { passwords, startApp } from '../../../test/support/app.ts';

test('of 50 logins at once ten are checked, the others are told to come back in a second', async (t) => {
  const { request } = await startApp(t, { settings: { profiles: ['login', 'alerts'] } });
  const body = { Username: 'admin', Password: passwords.admin };
  const login = () => request('POST', '/api/auth/login', { body });
  await login();
  const answers = Promise.all(Array.from({ length: 50 }, login));
  assert.equal((await request('POST', '/api/alert', { body: { message: 'meanwhile' } })).status, 200);
  const count = (wanted: number, list: { status: number }[]) =>
    list.filter(({ status }) => status === wanted).length;
  const all = await answers;
  assert.ok(count(200, all) >= 10 && count(503, all) > 0, `${count(200, all)} checked`);
  assert.equal(count(200, all) + count(503, all), 50);
  const refused = all.find(({ status }) => status === 503);
  assert.equal(refused?.headers['retry-after'], '1');
  assert.match(String(refused?.json['error']), /Too many logins/);
  assert.equal((await login()).status, 200);
});

test('a configured hash that cannot be checked is a fault of the server', async (t) => {
  const passwordHash = '$argon2id$v=19$m=1,t=1,p=1$AAAA$AAAA';
  const users = [{ name: 'ada', role: 'Admin', passwordHash }];
  const settings = { profiles: ['login'], users, adminPassword: undefined, readerPassword: undefined };
  const { request } = await startApp(t, { settings });
  const body = { Username: 'ada', Password: 'x' };
  assert.equal((await request('POST', '/api/auth/login', { body })).status, 500);
});
