import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp, startRefusal } from '../support/app.ts';

const letters = { T: 'tasks', L: 'simple-tasks', I: 'items', A: 'login', M: 'monitoring' };

const probes: Record<string, string> = {
  tasks: '/api/tasks',
  'protected-tasks': '/api/tasks',
  'simple-tasks': '/api/tasks',
  items: '/api/items',
  login: '/api/auth/login',
  monitoring: '/health',
  alerts: '/api/alerts',
  commands: '/api/execute',
};

test('every profile can be mounted by name', async (t) => {
  for (const [name, path] of Object.entries(probes)) {
    const { request } = await startApp(t, { settings: { profiles: [name] } });
    assert.notEqual((await request('GET', path)).status, name === 'simple-tasks' ? 500 : 404, name);
    const others = Object.entries(probes).filter(([, probe]) => probe !== path);
    for (const [, other] of others) assert.equal((await request('GET', other)).status, 404, `${name} ${other}`);
  }
});

test('the letters T, L, I, A and M select profiles, and X selects alerts and commands', async (t) => {
  for (const [letter, name] of Object.entries(letters)) {
    const byLetter = await startApp(t, { settings: { profiles: [letter] } });
    const byName = await startApp(t, { settings: { profiles: [name] } });
    const paths = await Promise.all([byLetter, byName].map(({ request }) => request('GET', '/openapi.json')));
    assert.equal(paths[0]?.text, paths[1]?.text);
  }
  const { request } = await startApp(t, { settings: { profiles: ['X'] } });
  assert.equal((await request('GET', '/api/alerts')).status, 200);
  assert.equal((await request('POST', '/api/execute')).status, 401);
});

test('a letter works in the mounts of a config file, too', async (t) => {
  const { request } = await startApp(t, { settings: { mounts: { '/a/b': ['M', 'login'] } } });
  assert.equal((await request('GET', '/a/b/health')).status, 200);
  assert.equal((await request('GET', '/health')).status, 404);
});

test('by default every profile is served, at /, /protected and /simple', async (t) => {
  const { request } = await startApp(t);
  for (const path of ['/health', '/api/tasks', '/api/alerts', '/api/info', '/simple/api/tasks']) {
    assert.equal((await request('GET', path)).status, 200, path);
  }
  for (const path of ['/api/items', '/protected/api/tasks']) {
    assert.equal((await request('GET', path)).status, 401, path);
  }
  for (const path of ['/api/auth/login', '/protected/api/auth/login', '/api/execute', '/api/alert']) {
    assert.equal((await request('GET', path)).status, 405, path);
  }
});

test('/ and /protected share their tasks, and simple tasks are separate', async (t) => {
  const { request, login } = await startApp(t);
  await request('POST', '/protected/api/tasks', { body: { Title: 'shared' } });
  assert.match((await request('GET', '/api/tasks')).text, /"Title":"shared"/);
  const token = await login('reader', '/protected');
  assert.match((await request('GET', '/protected/api/tasks', { token })).text, /"Title":"shared"/);
  assert.deepEqual((await request('GET', '/simple/api/tasks')).json, []);
});

test('the setting profiles replaces all mounts with one at /', async (t) => {
  const settings = { profiles: ['L'], mounts: { '/x': ['T'] } };
  const { request } = await startApp(t, { settings });
  assert.equal((await request('GET', '/api/tasks')).text, '[]');
  assert.equal((await request('GET', '/x/api/tasks')).status, 404);
  assert.equal((await request('GET', '/health')).status, 404);
});

test('two profiles on one mount with the same method and path prevent startup, and the message names both', async (t) => {
  assert.match(
    await startRefusal(t, { settings: { profiles: ['T', 'L'] } }),
    /profiles tasks and simple-tasks both define GET \/api\/tasks on mount \//,
  );
});

test('GET /api/health belongs to monitoring if tasks and monitoring share a mount', async (t) => {
  const both = await startApp(t, { settings: { profiles: ['T', 'M'] } });
  assert.ok('cpuUsage' in (await both.request('GET', '/api/health')).json);
  const alone = await startApp(t, { settings: { profiles: ['T'] } });
  assert.ok('pwsh' in (await alone.request('GET', '/api/health')).json);
});

test('an unknown profile and an invalid mount path prevent startup, and are reported together', async (t) => {
  const mounts = {
    '/a': ['nope'],
    'b/': ['tasks'],
    '/docs': ['tasks'],
    '/a/../b': ['T'],
    '/.': ['T'],
    '/..a/.b': ['T'],
  };
  const said = await startRefusal(t, { settings: { mounts } });
  assert.match(said, /there is no profile "nope"; the profiles are alerts \(X\), incidents, /);
  assert.match(said, /mount "b\/" must be \/ or a path such as \/tools/);
  assert.match(said, /mount "\/docs" is reserved for the built-in pages/);
  assert.match(said, /mount "\/a\/\.\.\/b" must not have a segment .*mount "\/\." must not have a segment/s);
  assert.doesNotMatch(said, /\.\.a/);
});

test('two mounts with the same method and path prevent startup, and the message names both', async (t) => {
  const settings = { mounts: { '/': ['T'], '/api': ['M'] } };
  assert.equal(await startRefusal(t, { settings }), 'mounts / and /api both define GET /api/health');
});

test('GET / and GET /docs redirect to /docs/ if the console is off', async (t) => {
  const { request } = await startApp(t, { settings: { console: false } });
  for (const path of ['/', '/docs']) {
    const { status, headers } = await request('GET', path);
    assert.deepEqual([status, headers['location']], [302, '/docs/'], path);
  }
});

test('GET / gets 404 if simple tasks are mounted at /, and /docs/ is still served', async (t) => {
  const { request } = await startApp(t, { settings: { profiles: ['L'] } });
  const root = await request('GET', '/');
  assert.deepEqual([root.status, Object.keys(root.json)], [404, ['error']]);
  assert.equal((await request('GET', '/docs/')).status, 200);
});
