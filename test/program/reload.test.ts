import assert from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { hashPassword } from '../../src/auth/password.ts';
import { notReloaded, startReloadable } from '../support/reload.ts';

const start = async (t: TestContext, settings: object, variables: Record<string, string> = {}) => {
  const program = await startReloadable(t, settings, variables);
  const { url } = program;
  const reload = async (content?: object | string, line?: string): Promise<void> => {
    await program.reload(content, line);
    // After the response to a further request, all earlier output has arrived.
    await fetch(`${url}/health`);
  };
  const send = async (path: string, body: object) => {
    const answer = await fetch(`${url}${path}`, { method: 'POST', body: JSON.stringify(body) });
    return { status: answer.status, json: (await answer.json()) as Record<string, string> };
  };
  const login = (Username: string, Password: string) => send('/api/auth/login', { Username, Password });
  return { ...program, reload, send, login };
};

const createUser = async (name: string, password: string) => ({
  name,
  role: 'Admin',
  passwordHash: await hashPassword(password),
});

test("on SIGHUP new users can log in and removed ones cannot; other users' tokens, tasks and connections stay", async (t) => {
  const [ada, bob, eve] = await Promise.all([
    createUser('ada', 'first'),
    createUser('bob', 'second'),
    createUser('eve', 'third'),
  ]);
  const { url, reload, send, login, stop } = await start(t, { users: [ada, eve] });
  await send('/api/tasks', { Title: 'kept' });
  const { token = '' } = (await login('eve', 'third')).json;
  await reload({ users: [bob, eve, { ...ada, name: 'Ada' }] });
  assert.equal((await login('bob', 'second')).status, 200);
  assert.equal((await login('Ada', 'first')).status, 200);
  assert.deepEqual(await login('ada', 'first'), { status: 401, json: { error: 'Unknown user' } });
  const items = await fetch(`${url}/api/items`, { headers: { authorization: `Bearer ${token}` } });
  assert.equal(items.status, 200);
  assert.match(await (await fetch(`${url}/api/tasks`)).text(), /"Title":"kept"/);
  assert.equal((await stop()).code, 0);
});

test('a changed password hash takes effect on SIGHUP', async (t) => {
  const { reload, login } = await start(t, { users: [await createUser('ada', 'first')] });
  assert.equal((await login('ada', 'first')).status, 200);
  await reload({ users: [await createUser('ada', 'second')] });
  assert.equal((await login('ada', 'first')).status, 401);
  assert.equal((await login('ada', 'second')).status, 200);
});

test('an unusable config file on SIGHUP is one error line, and the old users stay', async (t) => {
  const ada = await createUser('ada', 'first');
  const { path, reload, login, output, stop } = await start(t, { users: [ada] });
  const fresh = { users: [await createUser('bob', 'second')] };
  const broken = [
    '{"users": [',
    { users: [] },
    { users: [ada, ada] },
    { ...fresh, prot: 1 },
    { ...fresh, adminPassword: 'x' },
    { ...fresh, headersTimeout: 31 },
  ];
  for (const content of broken) await reload(content, notReloaded);
  chmodSync(path, 0o666);
  await reload(fresh, notReloaded);
  assert.match(
    output.stderr,
    /not reloaded; the old settings still apply: other accounts can write to the config file /,
  );
  assert.equal((await login('ada', 'first')).status, 200);
  assert.equal((await login('bob', 'second')).status, 401);
  const { stderr } = await stop();
  assert.equal(stderr.split('"level":50').length, broken.length + 2);
  assert.doesNotMatch(stderr, /\$argon2id/);
});

test('on SIGHUP a random password stays valid, and a new one is printed if it is needed', async (t) => {
  const { reload, login, output } = await start(t, {}, { SIGNALBOX_READER_PASSWORD: 'set' });
  const listRandom = () => [...output.stdout.matchAll(/^Password of (\w+) for this run: (\S+)$/gm)];
  const [, , password = ''] = listRandom()[0] ?? [];
  await reload();
  assert.equal(listRandom().length, 1);
  assert.equal((await login('admin', password)).status, 200);
  assert.equal((await login('reader', 'set')).status, 200);
  await reload({ adminPassword: 'chosen' });
  assert.equal((await login('admin', 'chosen')).status, 200);
  assert.equal((await login('admin', password)).status, 401);
});

test('users removed from the config file are replaced by admin and reader with printed passwords', async (t) => {
  const { reload, login, output } = await start(t, { users: [await createUser('ada', 'first')] });
  await reload({});
  const printed = [...output.stdout.matchAll(/^Password of (\w+) for this run: (\S+)$/gm)];
  assert.deepEqual(
    printed.map(([, name]) => name),
    ['admin', 'reader'],
  );
  for (const [, name = '', password = ''] of printed) assert.equal((await login(name, password)).status, 200);
  assert.equal((await login('ada', 'first')).status, 401);
});
