import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { hashPassword } from '../../src/auth/password.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { createFolder } from '../support/folder.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { createDatabase } from '../support/postgres/shared-server.ts';
import { createClaims, readPart, signToken } from '../support/tokens.ts';
import { codeOf, createUser, getToken, logIn, setUp, startWithoutUsers, strong } from './support/accounts.ts';

const start = async (t: TestContext, settings: object = {}) => {
  const app = await startWithoutUsers(t, { access: 'login', ...settings });
  await setUp(app, codeOf(app));
  return { app, token: await getToken(app, 'anna') };
};

const endSessions = (app: TestApp, token: string) => app.request('DELETE', '/api/sessions', { token });

const statusOf = async (app: TestApp, token: string): Promise<number> =>
  (await app.request('GET', '/api/items', { token })).status;

/** Logs in and ends all sessions again and again. Resolves to all tokens. Their times can be ahead of the clock. */
const collectTokens = async (app: TestApp, name: string, count: number): Promise<string[]> => {
  const tokens: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const token = await getToken(app, name);
    tokens.push(token);
    if (index < count - 1) assert.equal((await endSessions(app, token)).status, 200);
  }
  return tokens;
};

test('a deleted Admin who ended all sessions again and again has no token left that creates another Admin', async (t) => {
  const { app, token } = await start(t);
  await createUser(app, token, 'eve', 'Admin');
  const first = await getToken(app, 'eve');
  let last = first;
  for (let count = 0; count < 5; count += 1) last = (await collectTokens(app, 'eve', 15)).at(-1) ?? '';
  const ahead = Number(readPart(last, 1)['iat']) - Math.floor(Date.now() / 1000);
  assert.ok(ahead <= 1, `a token is ${ahead} s ahead of the clock`);
  assert.equal(await statusOf(app, last), 200);
  assert.equal((await app.request('DELETE', '/api/users/eve', { token })).status, 200);
  for (const one of [first, last]) {
    assert.equal(await statusOf(app, one), 401);
    assert.equal((await createUser(app, one, 'mallory', 'Admin')).status, 401);
  }
});

test('a demotion and a new password revoke every earlier token, even tokens of the current second', async (t) => {
  const { app, token } = await start(t);
  await createUser(app, token, 'eve', 'Admin');
  const tokens = await collectTokens(app, 'eve', 3);
  const change = (body: object) => app.request('PUT', '/api/users/eve', { token, body });
  assert.equal((await change({ role: 'Reader' })).status, 200);
  tokens.push(await getToken(app, 'eve'));
  assert.equal(await statusOf(app, tokens.at(-1) ?? ''), 200);
  assert.equal((await change({ role: 'Admin', password: `${strong} too` })).status, 200);
  for (const one of tokens) assert.equal(await statusOf(app, one), 401);
  assert.equal(await statusOf(app, await getToken(app, 'eve', `${strong} too`)), 200);
});

test('a token issued in the second after "log out everywhere" is valid immediately and not ahead of the clock', async (t) => {
  const app = await startApp(t, { settings: { access: 'login' } });
  for (let count = 0; count < 3; count += 1) {
    const token = await app.login('reader');
    assert.equal(await statusOf(app, token), 200);
    assert.ok(Number(readPart(token, 1)['iat']) <= Date.now() / 1000);
    assert.equal((await endSessions(app, token)).status, 200);
    assert.equal(await statusOf(app, token), 401);
  }
});

test('a token without a generation is valid for a configured account until its first revocation, never for a runtime account', async (t) => {
  const app = await startApp(t, { settings: { access: 'login' } });
  const foreign = (changes: Record<string, unknown>) => signToken(createClaims(changes));
  const admin = await app.login('admin');
  await createUser(app, admin, 'eve', 'Admin');
  assert.equal(await statusOf(app, foreign({ sub: 'reader', role: 'Reader' })), 200);
  assert.equal(await statusOf(app, foreign({ sub: 'reader', role: 'Admin' })), 401);
  assert.equal(await statusOf(app, foreign({ sub: 'eve', role: 'Admin' })), 401);
  await endSessions(app, await app.login('reader'));
  const later = Math.floor(Date.now() / 1000) + 30;
  assert.equal(await statusOf(app, foreign({ sub: 'reader', role: 'Reader', iat: later, exp: later + 3600 })), 401);
  await app.request('DELETE', '/api/users/eve', { token: admin });
  assert.equal(await statusOf(app, foreign({ sub: 'eve', role: 'Admin', iat: later, exp: later + 3600 })), 401);
});

test('a token for a name that never had an account is valid, and refused after its user has logged out everywhere', async (t) => {
  const app = await startApp(t, { settings: { access: 'login' } });
  const now = Math.floor(Date.now() / 1000);
  const robot = (iat: number) => signToken(createClaims({ sub: 'robot', role: 'Reader', iat, exp: iat + 3600 }));
  assert.equal(await statusOf(app, robot(now)), 200);
  assert.equal((await endSessions(app, robot(now))).status, 200);
  assert.equal(await statusOf(app, robot(now)), 401);
  assert.equal(await statusOf(app, robot(now + 30)), 200);
});

test('a user who left the config file, or got another role or password there, has no valid token after the restart', async (t) => {
  const dataDir = createFolder(t);
  const passwordHash = await hashPassword(strong);
  const toUser = (name: string, role: string, hash = passwordHash) => ({ name, role, passwordHash: hash });
  const startWith = (users: object[]) => startWithoutUsers(t, { access: 'login', dataDir, users });
  const names = ['gone', 'demoted', 'promoted', 'renewed', 'same'];
  const first = await startWith([
    ...['gone', 'demoted', 'renewed', 'same'].map((name) => toUser(name, 'Admin')),
    toUser('promoted', 'Reader'),
  ]);
  const tokens = new Map<string, string>();
  for (const name of names) tokens.set(name, await getToken(first, name));
  await first.close();
  const later = [
    toUser('demoted', 'Reader'),
    toUser('promoted', 'Admin'),
    toUser('renewed', 'Admin', await hashPassword(`${strong} too`)),
    toUser('same', 'Admin'),
  ];
  for (const users of [later, [...later, toUser('gone', 'Admin')]]) {
    const app = await startWith(users);
    const statuses = await Promise.all(names.map((name) => statusOf(app, tokens.get(name) ?? '')));
    assert.deepEqual(statuses, [401, 401, 401, 401, 200]);
    await app.close();
  }
});

test('after a change of an account, other instances refuse its old token and accept a new one immediately', {
  skip: toSkipPostgres(),
}, async (t) => {
  const settings = { store: await createDatabase(t), timeZone: 'UTC' };
  const { app: one, token } = await start(t, settings);
  const other = await startWithoutUsers(t, { access: 'login', ...settings });
  await createUser(one, token, 'eve', 'Admin');
  for (let count = 0; count < 5; count += 1) {
    const theirs = await getToken(one, 'eve');
    assert.equal(await statusOf(other, theirs), 200);
    assert.equal((await endSessions(one, theirs)).status, 200);
    // A change of access reads the accounts again, so the old token cannot be used even for a moment.
    const backdoor = await createUser(other, theirs, 'mallory', 'Admin');
    assert.equal(backdoor.status, 401);
  }
  const theirs = await getToken(one, 'eve');
  assert.equal((await one.request('DELETE', '/api/users/eve', { token })).status, 200);
  assert.equal((await createUser(other, theirs, 'mallory', 'Admin')).status, 401);
  assert.equal((await logIn(other, 'eve')).status, 401);
});
