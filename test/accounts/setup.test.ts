import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createSetup } from '../../src/features/accounts/setup.ts';
import { startApp } from '../support/app.ts';
import { createFolder } from '../support/folder.ts';
import { startProgram } from '../support/program.ts';
import { codeOf, createUser, getToken, logIn, setUp, startWithoutUsers, strong } from './support/accounts.ts';

test('the first start prints one link, which creates one account; later starts print neither link nor passwords', async (t) => {
  const cwd = createFolder(t);
  const first = await startProgram(t, [], { cwd });
  const links = first.output.stdout.match(/^Create the first account.*$/gm) ?? [];
  assert.equal(links.length, 1);
  assert.match(links[0] ?? '', /within 30 minutes \(later, restart for a new link\): /);
  const [, code = ''] = new RegExp(`: ${first.url}/console/#/setup\\?code=([\\w-]{32})$`).exec(links[0] ?? '') ?? [];
  const [, password = ''] = /\nPassword of admin for this run: (\S+)\n/.exec(first.output.stdout) ?? [];
  assert.equal((await logIn(first, 'admin', password)).status, 200);
  const created = await setUp(first, code);
  assert.deepEqual([created.status, created.json['name'], created.json['role']], [201, 'anna', 'Admin']);
  assert.equal(created.headers['etag'], `"${created.json['version']}"`);
  assert.deepEqual([(await logIn(first, 'anna')).status, (await logIn(first, 'admin', password)).status], [200, 401]);
  assert.equal((await setUp(first, code, 'ben')).status, 403);
  await first.stop();
  assert.doesNotMatch(first.output.stderr, new RegExp(`${code}|${strong}`));
  for (const name of readdirSync(join(cwd, 'data'))) {
    assert.equal(statSync(join(cwd, 'data', name)).mode & 0o777, 0o600, name);
  }
  assert.doesNotMatch(readFileSync(join(cwd, 'data', 'settings.jsonl'), 'utf8'), new RegExp(strong));

  const second = await startProgram(t, [], { cwd });
  assert.doesNotMatch(second.output.stdout, /first account|setup|Password/);
  assert.equal((await logIn(second, 'anna')).status, 200);
  assert.equal((await setUp(second, code, 'ben')).status, 403);
});

test('a weak password or an invalid name gets 400 and does not use up the code; a wrong code gets 403', async (t) => {
  const app = await startWithoutUsers(t);
  const code = codeOf(app);
  const weak = [
    '',
    'short',
    'x'.repeat(40),
    'anna anna anna',
    'password1234',
    '123456789012',
    'Qwertyuiop12',
    `a\0${strong}`,
  ];
  for (const password of [...weak, strong.repeat(5)]) {
    const { status, json } = await setUp(app, code, 'anna', password);
    assert.equal(status, 400, password);
    assert.match(String(json['error']), /^password /);
  }
  for (const name of ['', 'a b', 'key:x', '.a', 'a/b', 'signalbox', 'ä', 'x'.repeat(65)]) {
    assert.equal((await setUp(app, code, name)).status, 400, name);
  }
  for (const other of ['', 'x', `${code}x`, code.toUpperCase(), codeOf(await startWithoutUsers(t))]) {
    assert.equal((await setUp(app, other)).status, 403, other);
  }
  assert.equal((await app.request('POST', '/api/setup', { body: { code } })).status, 400);
  assert.equal((await setUp(app, code, 'admin')).status, 201);
  assert.equal((await logIn(app, 'admin')).status, 200);
});

test('of two simultaneous requests with the link, one creates the account', async (t) => {
  const app = await startWithoutUsers(t);
  const answers = await Promise.all(['anna', 'ben', 'eve'].map((name) => setUp(app, codeOf(app), name)));
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [201, 403, 403]);
});

test('a code is valid for 30 minutes, and only while there is no account', () => {
  let now = 0;
  let isNeeded = true;
  const setup = createSetup(
    () => isNeeded,
    () => now,
  );
  const code = codeOf(setup);
  now = 30 * 60_000;
  setup.take(code);
  assert.throws(() => setup.take(code), { status: 403 });
  setup.giveBack();
  isNeeded = false;
  assert.throws(() => setup.take(code), { status: 403 });
  isNeeded = true;
  now += 1;
  assert.throws(() => setup.take(code), { status: 403, message: /30 minutes/ });
});

test('with a configured password of admin, or configured users, the start prints no link', async (t) => {
  const app = await startApp(t);
  assert.equal(app.invitation, undefined);
  assert.equal((await setUp(app, '')).status, 403);
  // Without the setup route, there is no link either.
  const some = await startWithoutUsers(t, { profiles: ['login', 'settings', 'items'] });
  assert.equal(some.invitation, undefined);
  const { invitation, notices } = await startApp(t, { settings: { readerPassword: undefined } });
  assert.equal(invitation, undefined);
  assert.ok(notices.some((notice) => notice.startsWith('Password of reader for this run: ')));
});

test('the random passwords of a run are valid until there is an administrator', async (t) => {
  const app = await startWithoutUsers(t);
  const password = app.notices.join('\n').match(/Password of admin for this run: (\S+)/)?.[1] ?? '';
  const token = await getToken(app, 'admin', password);
  assert.equal((await createUser(app, token, 'ben')).status, 201);
  assert.equal((await logIn(app, 'admin', password)).status, 200);
  const { json } = await app.request<{ data: { name: string; origin: string }[] }>('GET', '/api/users', { token });
  assert.deepEqual(
    json.data.map(({ name, origin }) => [name, origin]),
    [
      ['admin', 'temporary'],
      ['ben', 'made'],
      ['reader', 'temporary'],
    ],
  );
  assert.equal((await app.request('DELETE', '/api/users/admin', { token })).status, 409);
  assert.equal((await createUser(app, token, 'anna', 'Admin')).status, 201);
  assert.equal((await logIn(app, 'admin', password)).status, 401);
  assert.equal((await app.request('GET', '/api/users', { token })).status, 401);
  assert.equal((await setUp(app, codeOf(app), 'eve')).status, 403);
  await app.close();
  const again = await startWithoutUsers(t, { dataDir: join(app.folder, 'data') });
  assert.equal((await again.request('GET', '/api/users', { token })).status, 401);
});
