import assert from 'node:assert/strict';
import { test } from 'node:test';
import { passwords, startApp, type TestApp } from '../support/app.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { startPostgres } from '../support/postgres/server.ts';

const skip = toSkipPostgres();

const logIn = async (app: TestApp, password: string): Promise<number> => {
  const body = { Username: 'admin', Password: password };
  return (await app.request('POST', '/api/auth/login', { body })).status;
};

test('failed logins at one instance delay logins at another instance, and both know of a successful login', {
  skip,
}, async (t) => {
  const server = await startPostgres(t);
  const settings = { store: server.url(), timeZone: 'UTC', loginTriesPerAddress: 4 };
  const [first, second] = [await startApp(t, { settings }), await startApp(t, { settings })];
  for (const app of [first, second, first]) assert.equal(await logIn(app, 'wrong'), 401);
  assert.equal(await logIn(second, passwords.admin), 200);
  for (const app of [first, second, first, second]) assert.equal(await logIn(app, 'wrong'), 401);
  for (const app of [first, second]) assert.equal(await logIn(app, passwords.admin), 429);
  // An instance started later knows earlier logins.
  assert.equal(await logIn(await startApp(t, { settings }), 'wrong'), 429);
});

test('without the database, each instance counts its own failed logins', { skip }, async (t) => {
  const server = await startPostgres(t);
  const settings = { store: server.url(), timeZone: 'UTC', loginTriesPerAddress: 2 };
  const app = await startApp(t, { settings });
  await server.stop('SIGKILL');
  const begin = performance.now();
  assert.deepEqual([await logIn(app, 'wrong'), await logIn(app, 'wrong')], [401, 401]);
  assert.equal(await logIn(app, passwords.admin), 429);
  assert.ok(performance.now() - begin < 6000);
});
