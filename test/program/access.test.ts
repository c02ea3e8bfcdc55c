import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp } from '../support/app.ts';
import { writeConfig } from '../support/config-file.ts';
import { createFolder } from '../support/folder.ts';
import { refusal, runCommand, startProgram } from '../support/program.ts';

const password = 'correct horse';
const passwords = { SIGNALBOX_ADMIN_PASSWORD: password, SIGNALBOX_READER_PASSWORD: password };

test('`access` can be a flag, a variable, or a word or object in the config file', async (t) => {
  const forms: [
    settings: object,
    flags: Record<string, string>,
    variables: Record<string, string>,
    tasks: number,
    metrics: number,
  ][] = [
    [{}, {}, {}, 200, 200],
    [{}, { access: 'login' }, {}, 401, 401],
    [{}, {}, { SIGNALBOX_ACCESS: 'login' }, 401, 401],
    [{}, { access: 'open' }, { SIGNALBOX_ACCESS: 'login' }, 200, 200],
    [{ access: 'login' }, {}, {}, 401, 401],
    [{ access: { T: 'admin' } }, {}, {}, 401, 200],
  ];
  for (const [settings, flags, variables, tasks, metrics] of forms) {
    const server = await startApp(t, { settings, flags, variables });
    const statuses = [];
    for (const path of ['/health', '/livez', '/ready', '/readyz', '/openapi.json', '/console/', '/docs/']) {
      statuses.push((await server.request('GET', path)).status);
    }
    assert.deepEqual(new Set(statuses), new Set([200]), JSON.stringify([settings, flags, variables]));
    assert.equal((await server.request('DELETE', '/api/tasks/1')).status, tasks === 200 ? 404 : tasks);
    assert.equal((await server.request('GET', '/api/tasks')).status, tasks);
    assert.equal((await server.request('GET', '/metrics')).status, metrics);
    await server.close();
  }
});

test('a profile has the access that the file sets for it, and other profiles have their default access', async (t) => {
  const access = { tasks: 'login', monitoring: 'admin', alerts: 'open', commands: 'open', 'simple-tasks': 'admin' };
  const { request, login, notices } = await startApp(t, { settings: { access } });
  const callers = [undefined, await login('reader'), await login('admin')];
  const statusesOf = async (method: string, path: string, body?: object) => {
    const statuses = [];
    for (const token of callers) statuses.push((await request(method, path, { token, body })).status);
    return statuses;
  };
  assert.deepEqual(await statusesOf('GET', '/api/tasks'), [401, 200, 200]);
  assert.deepEqual(await statusesOf('POST', '/api/tasks', { Title: 'a' }), [401, 201, 201]);
  assert.deepEqual(await statusesOf('GET', '/protected/api/tasks/7'), [404, 404, 404]);
  assert.deepEqual(await statusesOf('GET', '/api/health'), [401, 403, 200]);
  assert.deepEqual(await statusesOf('GET', '/health'), [200, 200, 200]);
  assert.deepEqual(await statusesOf('GET', '/api/alerts'), [200, 200, 200]);
  assert.deepEqual(await statusesOf('GET', '/api/deliveries'), [401, 200, 200]);
  assert.deepEqual(await statusesOf('GET', '/simple/api/tasks/'), [401, 403, 200]);
  assert.deepEqual(await statusesOf('POST', '/api/execute', { command: 'Get-Process -Id 1' }), [200, 200, 200]);
  assert.deepEqual(await statusesOf('GET', '/api/executions'), [401, 403, 200]);
  assert.deepEqual(await statusesOf('GET', '/api/items'), [401, 200, 200]);
  assert.deepEqual(await statusesOf('HEAD', '/api/events?topics=tasks'), [401, 200, 200]);
  assert.deepEqual(await statusesOf('HEAD', '/api/events?topics=host'), [401, 403, 200]);
  const warning =
    'Warning: anyone who can reach this server can use POST /api/execute and GET /api/commands without a token, because access is "open" for commands';
  assert.ok(
    notices.some((notice) => notice.includes(warning)),
    notices.join('\n'),
  );
});

test('an unusable access stops the start with one line of advice', async (t) => {
  const profiles =
    'monitoring, M, tasks, T, protected-tasks, simple-tasks, L, items, I, settings, incidents, login, A, accounts, alerts, X, silences, availability, heartbeats, notifications, oncall, alertmanager, commands, metrics, history, watches, snapshots, hosts, status, status-pages, events';
  const messages: [unknown, string][] = [
    ['closed', 'must be one of open, login, not "closed"'],
    [true, 'must be one of open, login, not true'],
    [{ alerts: 'bearer' }, 'at alerts must be one of open, login, admin'],
    [{ alarms: 'login' }, `access has no profile "alarms"; the profiles are ${profiles}`],
    [{ X: 'login', alerts: 'admin' }, 'access names the profile alerts twice, also as X: remove X'],
    [
      { I: 'open' },
      'access cannot open the profile items, which always needs a token: use "login" or "admin", or remove items from access',
    ],
    [
      { 'protected-tasks': 'open' },
      'access cannot open the profile protected-tasks, which always needs a token: use "login" or "admin", or remove protected-tasks from access',
    ],
    [{ login: 'admin' }, 'access cannot close the profile login, which issues tokens: remove login from access'],
  ];
  for (const [access, message] of messages) {
    const config = writeConfig(createFolder(t), { access });
    const place = /^(must|at) /.test(message) ? `access in ${config} ` : '';
    // Later versions may add profiles.
    const found = (await refusal(['--config', config], 1)).slice(0, (place + message).length);
    assert.equal(found, place + message);
  }
});

test('the settings that access replaced still work, with a warning that names the new setting', async (t) => {
  const toLogin = (profile: string) =>
    `is replaced by the setting access: write "access": {"${profile}": "login"} in the config file, or set access to login for all profiles`;
  const config = writeConfig(createFolder(t), { historyAuth: 'bearer', metricsAuth: 'none' });
  const args = ['--config', config, '--alerts-auth', 'bearer'];
  const variables = { ...passwords, SIGNALBOX_EXECUTE_AUTH: 'none' };
  const server = await startProgram(t, args, { variables });
  const statusOf = async (method: string, path: string, body?: object) =>
    (await server.request(method, path, { body })).status;
  assert.equal(await statusOf('GET', '/api/alerts'), 401);
  assert.equal(await statusOf('POST', '/api/alert', { message: 'a' }), 401);
  assert.equal(await statusOf('GET', '/api/history'), 401);
  assert.equal(await statusOf('GET', '/metrics'), 200);
  assert.equal(await statusOf('GET', '/api/tasks'), 200);
  assert.equal(await statusOf('GET', '/api/commands'), 200);
  const { stderr } = await server.stop();
  const warnings = stderr.split('\n').flatMap((line) => (line.includes('is replaced by') ? JSON.parse(line).msg : []));
  assert.deepEqual(warnings.sort(), [
    `--alerts-auth ${toLogin('alerts')}`,
    'SIGNALBOX_EXECUTE_AUTH is replaced by the setting access: write "access": {"commands": "open"} in the config file',
    `historyAuth in ${config} ${toLogin('history')}`,
    `metricsAuth in ${config} is replaced by the setting access: remove the old setting`,
  ]);
});

test('a replaced setting that contradicts access is refused, and a setting that agrees with it is not', async (t) => {
  const start = (settings: object) => runCommand(['check-config', writeConfig(createFolder(t), settings)]);
  for (const settings of [
    { access: 'login', alertsAuth: 'none' },
    { access: 'login', executeAuth: 'none' },
    { access: 'open', alertsAuth: 'bearer' },
    { access: { X: 'open' }, alertsAuth: 'bearer' },
    { access: { history: 'admin' }, historyAuth: 'none' },
  ]) {
    const { code, stderr } = await start(settings);
    const [, key = ''] = Object.keys(settings);
    assert.equal(code, 1, JSON.stringify(settings));
    assert.match(
      stderr,
      new RegExp(`^signalbox: ${key} in \\S+ contradicts the setting access, which replaces it: remove ${key}\n$`),
    );
  }
  for (const settings of [
    { access: 'login', alertsAuth: 'bearer', executeAuth: 'admin' },
    { access: 'open', alertsAuth: 'none', executeAuth: 'admin' },
    { access: { alerts: 'admin', tasks: 'login' }, alertsAuth: 'bearer', metricsAuth: 'bearer' },
  ]) {
    const { code, stderr } = await start(settings);
    assert.equal(code, 0, stderr);
  }
  const config = writeConfig(createFolder(t), { alertsAuth: 'maybe' });
  assert.equal(
    await refusal(['--config', config], 1),
    `alertsAuth in ${config} must be one of none, bearer, not "maybe"`,
  );
});

test('open routes beyond loopback or behind a proxy cause a warning on startup and in the OpenAPI document', async (t) => {
  const needsWarning = async (settings: object): Promise<boolean> => {
    const server = await startApp(t, { settings });
    const host = { host: 'localhost' };
    const { json } = await server.request('GET', '/openapi.json', { headers: host });
    const warning = server.notices.find((each) =>
      /^Warning: .* paths need no token\. Set access to "login"/.test(each),
    );
    assert.equal(json['x-signalbox-warning'], warning);
    assert.equal(server.openRoutesNotice?.warning, warning);
    return warning !== undefined;
  };
  assert.equal(await needsWarning({}), false);
  assert.equal(await needsWarning({ trustProxy: ['127.0.0.1'] }), true);
  assert.equal(await needsWarning({ host: '0.0.0.0' }), true);
  assert.equal(await needsWarning({ trustProxy: ['127.0.0.1'], access: 'login' }), false);
  assert.equal(await needsWarning({ host: '0.0.0.0', profiles: ['items', 'login'] }), false);
});
