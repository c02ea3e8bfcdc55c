import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { hashPassword } from '../../src/auth/password.ts';
import { passwords, startApp, startRefusal, type TestApp } from '../support/app.ts';
import { createFolder } from '../support/folder.ts';
import { startProgram } from '../support/program.ts';

const profiles = ['login'];
const announcement = /^Password of (\w+) for this run: (\S+)$/gm;

const startProgramWithLogin = (t: TestContext, variables: Record<string, string> = {}) =>
  startProgram(t, ['--profiles', 'login', '--data-dir', createFolder(t)], { variables });

const statusOf = async (app: TestApp, Username: string, Password: string): Promise<number> =>
  (await app.request('POST', '/api/auth/login', { body: { Username, Password } })).status;

test('by default the users are admin, an Admin, and reader, a Reader', async (t) => {
  const app = await startApp(t, { settings: { profiles } });
  for (const [Username, role] of [['admin', 'Admin'] as const, ['reader', 'Reader'] as const]) {
    const body = { Username, Password: passwords[Username] };
    assert.equal((await app.request('POST', '/api/auth/login', { body })).json['role'], role);
  }
});

test('the passwords come from SIGNALBOX_ADMIN_PASSWORD and SIGNALBOX_READER_PASSWORD', async (t) => {
  const { request, output } = await startProgramWithLogin(t, {
    SIGNALBOX_ADMIN_PASSWORD: passwords.admin,
    SIGNALBOX_READER_PASSWORD: passwords.reader,
  });
  for (const name of ['admin', 'reader'] as const) {
    const body = { Username: name, Password: passwords[name] };
    assert.equal((await request('POST', '/api/auth/login', { body })).status, 200);
    assert.equal(`${output.stdout}${output.stderr}`.includes(passwords[name]), false);
  }
});

test('a missing password is random, printed once on startup, and works', async (t) => {
  const first = await startProgramWithLogin(t);
  const created = [...first.output.stdout.matchAll(announcement)].map(([, name, password]) => [name, password]);
  assert.deepEqual(
    created.map(([name]) => name),
    ['admin', 'reader'],
  );
  for (const [Username, Password] of created) {
    const body = { Username, Password };
    assert.equal((await first.request('POST', '/api/auth/login', { body })).status, 200);
  }
  const { stdout, stderr } = await first.stop();
  for (const [, password = ''] of created) assert.equal(`${stdout}${stderr}`.split(password).length, 2);
  const second = await startProgramWithLogin(t);
  for (const [, password = ''] of created) assert.equal(second.output.stdout.includes(password), false);
});

test('there is no default password', async (t) => {
  const app = await startApp(t, {
    settings: { profiles, loginTriesPerAddress: 0, adminPassword: undefined, readerPassword: undefined },
  });
  for (const name of ['admin', 'reader']) {
    for (const password of ['', name, 'password', 'signalbox', 'changeme', '1234', 'undefined']) {
      assert.equal(await statusOf(app, name, password), 401, password);
    }
  }
});

test('configured users with roles and password hashes replace admin and reader', async (t) => {
  const users = [{ name: 'Ali', role: 'Reader', passwordHash: await hashPassword('open sesame') }];
  const none = { adminPassword: undefined, readerPassword: undefined };
  const app = await startApp(t, { settings: { profiles, users, ...none } });
  const body = { Username: 'Ali', Password: 'open sesame' };
  assert.equal((await app.request('POST', '/api/auth/login', { body })).json['role'], 'Reader');
  assert.equal(await statusOf(app, 'Ali', 'open sesam'), 401);
  assert.equal(await statusOf(app, 'admin', passwords.admin), 401);
});

test('a configured user with an unknown role, or without a hash, prevents startup', async (t) => {
  const passwordHash = '$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ$aGFzaGhhc2hoYXNo';
  const faults = [
    { name: 'Ali', role: 'admin', passwordHash },
    { name: 'Ali', role: 'Admin' },
    { name: 'Ali', role: 'Admin', passwordHash: 'open sesame' },
    { name: '', role: 'Admin', passwordHash },
    { name: 'Ali', role: 'Admin', passwordHash: passwordHash.replace('m=19456', 'm=4194304') },
  ];
  const none = { adminPassword: undefined, readerPassword: undefined };
  for (const user of faults) {
    const settings = { profiles, users: [user], ...none };
    await startRefusal(t, { settings });
  }
});
