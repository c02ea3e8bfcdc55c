import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createAccessKey } from '../../src/auth/access.ts';
import { hashPassword } from '../../src/auth/password.ts';
import { openEvents } from '../support/events.ts';
import { startReloadable } from '../support/reload.ts';

const createUser = async (name: string, role: string, password = `password of ${name}`) => ({
  name,
  role,
  passwordHash: await hashPassword(password),
});

const start = async (t: TestContext, settings: object) => {
  const program = await startReloadable(t, settings);
  const logIn = async (name: string, password = `password of ${name}`): Promise<string> => {
    const body = { Username: name, Password: password };
    const { json } = await program.request<{ token: string }>('POST', '/api/auth/login', { body });
    return json.token;
  };
  return { ...program, logIn };
};

const open = (t: TestContext, url: string, topics: string, token: string) => openEvents(t, url, topics, { token });

test('on SIGHUP the streams of a removed key and a removed user end, and other streams continue', async (t) => {
  const [gone, kept] = [createAccessKey('gone', ['alerts:read']), createAccessKey('kept', ['alerts:read'])];
  const [ada, bob] = await Promise.all([createUser('ada', 'Admin'), createUser('bob', 'Reader')]);
  const settings = { access: 'login', users: [ada, bob], keys: [gone.entry, kept.entry] };
  const { url, request, reload, logIn } = await start(t, settings);
  const [adaToken, bobToken] = [await logIn('ada'), await logIn('bob')];
  const ending = await Promise.all([
    open(t, url, 'alerts', gone.key),
    open(t, url, 'alerts', bobToken),
    open(t, url, 'tasks,host', bobToken),
  ]);
  const staying = await Promise.all([open(t, url, 'alerts', kept.key), open(t, url, 'alerts,deliveries', adaToken)]);
  for (const stream of [...ending, ...staying]) await stream.waitFor('hello');

  await reload({ ...settings, users: [ada], keys: [kept.entry] });
  await Promise.all(ending.map(({ ended }) => ended));
  await request('POST', '/api/alert', { token: adaToken, body: { message: 'after' } });
  for (const stream of staying) await stream.waitFor('alerts');
  for (const stream of ending) assert.doesNotMatch(stream.text(), /after/);
  assert.equal((await open(t, url, 'alerts', gone.key)).status, 401);
  assert.equal((await open(t, url, 'alerts', bobToken)).status, 401);
});

test('with open topics, the stream of a removed key ends, too', async (t) => {
  const gone = createAccessKey('gone', ['alerts:read']);
  const { url, request, reload } = await start(t, { keys: [gone.entry] });
  const [known, unknown] = [await open(t, url, 'alerts', gone.key), await openEvents(t, url, 'alerts')];
  await Promise.all([known.waitFor('hello'), unknown.waitFor('hello')]);
  await reload({ keys: [] });
  await known.ended;
  await request('POST', '/api/alert', { body: { message: 'after' } });
  await unknown.waitFor('alerts');
});

test('on SIGHUP tokens of a removed user, and of a user with another role or password, are refused', async (t) => {
  const [ada, bob, eve, joe] = await Promise.all([
    createUser('ada', 'Admin'),
    createUser('bob', 'Reader'),
    createUser('eve', 'Admin'),
    createUser('joe', 'Reader'),
  ]);
  const { request, reload, logIn } = await start(t, { users: [ada, bob, eve, joe] });
  const tokens = await Promise.all(['ada', 'bob', 'eve', 'joe'].map((name) => logIn(name)));
  const read = (token: string) => request('GET', '/api/items', { token });
  for (const token of tokens) assert.equal((await read(token)).status, 200);
  const changed = await createUser('joe', 'Reader', 'another');
  await reload({ users: [ada, { ...eve, role: 'Reader' }, changed] });
  const answers = [];
  for (const token of tokens) answers.push((await read(token)).json['error'] ?? 'accepted');
  const refused = 'Token validation failed: the user has been removed or changed';
  assert.deepEqual(answers, ['accepted', refused, refused, refused]);
  for (const token of [await logIn('eve'), await logIn('joe', 'another')])
    assert.equal((await read(token)).status, 200);
  await reload({ users: [ada, bob, eve, changed] });
  assert.equal((await read(await logIn('bob'))).status, 200);
});

test('a revoked key gets a distinct message; a key without the scope gets the message of a malformed token', async (t) => {
  const [gone, kept] = [createAccessKey('gone', ['alerts:read']), createAccessKey('kept', ['alerts:write'])];
  const { request, reload } = await start(t, { access: 'login', keys: [gone.entry, kept.entry] });
  const errorOf = async (token: string) => (await request('GET', '/api/alerts', { token })).json['error'];
  assert.equal(await errorOf(gone.key), undefined);
  await reload({ access: 'login', keys: [kept.entry] });
  assert.equal(await errorOf(gone.key), 'Unknown or revoked key');
  for (const other of [kept.key, gone.key.slice(0, -1), 'sbk_', 'x', 'a.b']) {
    assert.equal(await errorOf(other), 'Invalid token format', other);
  }
});
