import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { platform } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { listCommands } from '../../src/cli/commands.ts';
import { isFlag, textForm, toFlagName, toVariableName } from '../../src/config/names.ts';
import { packageRoot, programVersion } from '../../src/server/package-info.ts';
import { settingsSchema, startApp } from '../support/app.ts';
import { sendRaw } from '../support/connection.ts';
import { createFolder } from '../support/folder.ts';
import { runCommand, startProgram } from '../support/program.ts';
import { waitUntil } from '../support/wait.ts';

const longSecret = 'a signing key that is long enough for it';

test('the start message shows the addresses of the console and the intake, the mounts, the open routes and the random passwords', async (t) => {
  const { url, request, stop } = await startProgram(t, []);
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/);
  assert.equal((await request('GET', '/health')).status, 200);
  const { stdout } = await stop();
  assert.match(stdout, new RegExp(`^signalbox ${programVersion} listens on ${url}\\n`));
  assert.match(
    stdout,
    /\n {2}\/ +alerts, incidents, snapshots, silences, notifications, oncall, alertmanager, watches, heartbeats, availability, status-pages, monitoring, status, history, tasks, commands, settings, login, accounts, metrics, hosts, events, about, items\n/,
  );
  assert.match(stdout, /\n {2}\/protected +login, protected-tasks\n/);
  assert.match(stdout, /\n {2}\/simple +simple-tasks\n/);
  assert.match(stdout, new RegExp(`\\n {2}Console +${url}/console/\\n {2}Send alerts +${url}/api/alert\\n`));
  assert.match(
    stdout,
    /\nOpen without a token: monitoring, status, history, tasks, login, metrics, events, simple-tasks; in part: alerts, incidents, silences, notifications, oncall, alertmanager, watches, heartbeats, availability, status-pages, accounts, hosts, protected-tasks\n/,
  );
  assert.match(stdout, /\nTasks and items are lost when the server stops; --store file keeps them\.\n/);
  for (const [name, role] of [
    ['admin', 'Admin'],
    ['reader', 'Reader'],
  ]) {
    assert.match(stdout, new RegExp(`\\nPassword of ${name} for this run: \\S{16}\\n`), role);
  }
});

test('the process is called signalbox, and keeps its arguments', {
  skip: platform() !== 'linux' && 'this system has no /proc',
}, async (t) => {
  const { child } = await startProgram(t, ['--profiles', 'tasks']);
  assert.equal(readFileSync(`/proc/${child.pid}/comm`, 'utf8'), 'signalbox\n');
  assert.match(readFileSync(`/proc/${child.pid}/cmdline`, 'utf8').replaceAll('\0', ' '), /--profiles tasks/);
});

test('with output and log in one file, the start message is complete and first', async (t) => {
  const wrapper = ['sh', '-c', 'exec "$@" 2>&1', 'sh'];
  const { output, stop } = await startProgram(t, ['--host', '0.0.0.0'], { wrapper });
  await waitUntil('the server has logged', () => output.stdout.includes('jwtSecret is not set'));
  await stop();
  const lines = output.stdout.trimEnd().split('\n');
  const firstLogged = lines.findIndex((line) => line.startsWith('{'));
  assert.match(lines[0] ?? '', /^signalbox \S+ listens on /);
  assert.ok(lines.slice(0, firstLogged).some((line) => line.startsWith('Password of reader for this run: ')));
  assert.ok(lines.slice(firstLogged).every((line) => line.startsWith('{')));
});

test('a server that listens on every address prints addresses that can be opened on this machine', async (t) => {
  const { output } = await startProgram(t, ['--host', '0.0.0.0']);
  assert.match(
    output.stdout,
    /listens on http:\/\/0\.0\.0\.0:(\d+)\n\n {2}Console +http:\/\/localhost:\1\/console\/\n/,
  );
});

test('the log says that tokens end with the process only if there is no signing key', async (t) => {
  const cwd = createFolder(t);
  const without = await startProgram(t, ['--profiles', 'A'], { cwd });
  assert.match((await without.stop()).stderr, /become invalid when the server stops/);
  const given = await startProgram(t, ['--profiles', 'A'], {
    cwd,
    variables: { SIGNALBOX_JWT_SECRET: longSecret },
  });
  assert.doesNotMatch((await given.stop()).stderr, /become invalid/);
});

test('flags set profiles, data directory and log level, and profiles without files create no directory', async (t) => {
  const cwd = createFolder(t);
  const lists = await startProgram(t, ['--profiles', 'L', '--log-level', 'silent'], { cwd });
  assert.equal((await lists.request('GET', '/api/tasks')).text, '[]');
  assert.equal((await lists.stop()).stderr, '');
  assert.equal(existsSync(join(cwd, 'data')), false);
  const alerts = await startProgram(t, ['--profiles', 'alerts', '--data-dir', 'kept/here'], { cwd });
  await alerts.stop();
  assert.equal(existsSync(join(cwd, 'kept', 'here')), true);
});

test('a config file sets mounts and users, and its schema is printed for editors', async (t) => {
  const cwd = createFolder(t);
  const { stdout: hash } = await runCommand(['hash-password'], { input: 'open sesame\n' });
  const users = [{ name: 'ada', role: 'Admin', passwordHash: hash.trim() }];
  writeFileSync(join(cwd, 'signalbox.json'), JSON.stringify({ mounts: { '/tools': ['A', 'I'] }, users }));
  const { request } = await startProgram(t, ['--config', 'signalbox.json'], { cwd });
  const body = { Username: 'ada', Password: 'open sesame' };
  const login = await request('POST', '/tools/api/auth/login', { body });
  const token = String(login.json['token']);
  assert.equal((await request('GET', '/tools/api/items', { token })).status, 200);
  const schema = JSON.parse((await runCommand(['config-schema'])).stdout);
  assert.ok('mounts' in schema.properties && 'users' in schema.properties && 'port' in schema.properties);
});

test('publicDir replaces the pages at /docs/', async (t) => {
  const cwd = createFolder(t);
  mkdirSync(join(cwd, 'pages'));
  writeFileSync(join(cwd, 'pages', 'index.html'), '<title>ours</title>');
  const { request } = await startApp(t, { settings: { publicDir: join(cwd, 'pages') } });
  assert.equal((await request('GET', '/docs/')).text, '<title>ours</title>');
});

test('at log level debug each request is one JSON line', async (t) => {
  const { request, stop } = await startProgram(t, ['--profiles', 'L', '--log-level', 'debug']);
  await request('GET', '/api/tasks?x=%0a{"level":60}');
  const lines = (await stop()).stderr
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const line = lines.find(({ msg }) => msg === 'request');
  assert.deepEqual([line.method, line.status, line.path], ['GET', 200, '/api/tasks']);
});

test('--help lists every setting in a group with its variable, and fits into 100 columns', async () => {
  const { stdout, code } = await runCommand(['--help']);
  assert.equal(code, 0);
  for (const group of [
    'Network',
    'Data',
    'Security',
    'Logging',
    'Accounts',
    'Alerts',
    'Commands',
    'Profiles and pages',
  ]) {
    assert.match(stdout, new RegExp(`\\n\\n${group}:\\n  `));
  }
  const words = stdout.split(/[\s[\]]+/);
  for (const [key, property] of Object.entries(settingsSchema.properties)) {
    const name = textForm(property) === 'none' ? key : toVariableName(key);
    assert.ok(words.includes(name), name);
    assert.equal(new RegExp(`\\n  --${toFlagName(key)}[ \\n]`).test(stdout), isFlag(property), key);
  }
  assert.match(stdout, /\nExample:\n {2}SIGNALBOX_DATA_DIR=\S+ signalbox --config /);
  assert.match(stdout, /tasks \(T\)/);
  const longest = Math.max(...stdout.split('\n').map((line) => line.length));
  assert.ok(longest <= 100, `${longest} columns`);
});

test('the help of every command has its flags and variables, and fits into 100 columns', async () => {
  const commands = (await listCommands()).filter(({ name }) => name !== 'serve');
  const { stdout: all } = await runCommand(['--help']);
  for (const { name, flags = {}, variables = {}, summary } of commands) {
    const { stdout, code } = await runCommand([name, '--help']);
    assert.equal(code, 0);
    assert.ok(stdout.startsWith(`signalbox ${name}`) && stdout.replaceAll('\n', ' ').includes(summary), stdout);
    for (const key of Object.keys(flags)) assert.match(stdout, new RegExp(`\\n  (-\\w, )?--${toFlagName(key)}[ \\n]`));
    for (const variable of Object.keys(variables)) assert.match(stdout, new RegExp(`\\n  ${variable} `));
    const longest = Math.max(...stdout.split('\n').map((line) => line.length));
    assert.ok(longest <= 100, `${name}: ${longest} columns`);
    assert.match(all, new RegExp(`\\n  signalbox ${name}\\b`));
  }
});

test('no command has a flag with the name of a setting, except of the agent and its folder', async () => {
  const own = (await listCommands()).flatMap(({ flags = {} }) => Object.keys(flags));
  assert.deepEqual(
    // Both commands have values in either place, so both command lines are parsed in the same way.
    [...new Set(own.filter((key) => Object.hasOwn(settingsSchema.properties, key)))],
    ['hub', 'dataDir'],
  );
});

test('--version prints the version of the package', async () => {
  const { version: packaged } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));
  assert.deepEqual([(await runCommand(['--version'])).stdout, packaged], [`${programVersion}\n`, programVersion]);
});

test('a server bound beyond loopback logs a warning', async (t) => {
  const { stop } = await startProgram(t, ['--profiles', 'L', '--host', '0.0.0.0'], { cwd: createFolder(t) });
  const { stderr } = await stop();
  const warning = stderr.split('\n').find((line) => line.includes('"level":40'));
  const { msg, openRoutes } = JSON.parse(warning ?? '{}') as Record<string, unknown>;
  assert.match(
    String(msg),
    /^Warning: the server listens on 0\.0\.0\.0, and 2 paths need no token\. Set access to "login"/,
  );
  assert.deepEqual(openRoutes, ['GET, POST /api/tasks', 'GET /api/tasks/:id']);
});

test("Node's own flags cannot make the server accept invalid HTTP or larger headers", async (t) => {
  const variables = { NODE_OPTIONS: '--insecure-http-parser --max-http-header-size=100000' };
  const { url } = await startProgram(t, ['--profiles', 'L'], { cwd: createFolder(t), variables });
  const ask = (header: string) =>
    sendRaw(url, `GET /api/tasks HTTP/1.1\r\nHost: localhost\r\n${header}\r\nConnection: close\r\n\r\n`);
  assert.match(await ask('X : y'), /^HTTP\/1\.1 400 /);
  assert.match(await ask(`X: ${'y'.repeat(20_000)}`), /^HTTP\/1\.1 431 /);
  assert.match(await ask('X: y'), /^HTTP\/1\.1 200 /);
});
