import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../src/server/package-info.ts';
import type { Request } from '../../support/client.ts';
import { createFolder } from '../../support/folder.ts';
import { startPostgres } from '../../support/postgres/server.ts';
import { runProgram, startProgram } from '../../support/program.ts';
import type { Scope } from '../../support/scope.ts';
import { waitUntilPasses } from '../../support/wait.ts';

/** Folder with data of released versions, `data-VERSION`, written by make-fixture.ts and never changed afterwards. */
export const fixtures = join(packageRoot, 'test', 'fixtures');

const password = 'correct horse battery';
/** Variables that are the same for every version, so that tokens and local times are, too. */
export const variables = {
  SIGNALBOX_ADMIN_PASSWORD: password,
  SIGNALBOX_READER_PASSWORD: password,
  SIGNALBOX_JWT_SECRET: 'the key of the data of each version',
  SIGNALBOX_TIME_ZONE: 'UTC',
  // Fixtures get old, and the state of the machine must have no effect.
  SIGNALBOX_ALERTS_RETAIN_DAYS: '0',
  SIGNALBOX_INCIDENTS_RETAIN_DAYS: '0',
  SIGNALBOX_QUIET_HOURS: '0',
  SIGNALBOX_DEFAULT_WATCHES: 'false',
};

/** Paths that are read before and after an upgrade. Data of 1.0.0 has only the first eight. */
const allPaths = [
  '/api/tasks?limit=100',
  '/api/tasks/1',
  '/api/tasks?status=Completed',
  '/simple/api/tasks',
  '/api/items',
  '/api/alerts?count=100',
  '/api/alerts/search?q=disk',
  '/api/executions',
  '/api/incidents?state=all',
  '/api/incidents/1',
  '/api/users',
  '/api/keys',
  '/api/destinations',
  '/api/intake-formats',
  '/api/silences',
  '/api/heartbeats',
  '/api/audit',
];

export interface Reading {
  path: string;
  etag: string | null;
  body: unknown;
}

/** Reads the paths in the expected readings as an admin, or all paths. */
export const readAll = async (request: Request, expected?: readonly Reading[]): Promise<Reading[]> => {
  const paths = expected?.map(({ path }) => path) ?? allPaths;
  const authorization = await logIn(request);
  const readings: Reading[] = [];
  for (const path of paths) {
    const { status, headers, json } = await request('GET', path, { headers: { authorization } });
    assert.equal(status, 200, path);
    readings.push({ path, etag: (headers['etag'] as string | undefined) ?? null, body: json });
  }
  return readings;
};

/** Compares readings with those of an earlier version, whose responses may have fewer members. */
export const assertShows = (readings: readonly Reading[], earlier: readonly Reading[]): void =>
  assert.deepEqual(pickMembers(readings, earlier), earlier);

/** Returns only the members of the value that the other value also has. */
const pickMembers = (value: unknown, other: unknown): unknown => {
  if (Array.isArray(value) && Array.isArray(other)) return value.map((each, index) => pickMembers(each, other[index]));
  if (!isObject(value) || !isObject(other)) return value;
  const known = Object.entries(value).filter(([name]) => name in other);
  return Object.fromEntries(known.map(([name, member]) => [name, pickMembers(member, other[name])]));
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const logIn = async (request: Request): Promise<string> => {
  const { json } = await request('POST', '/api/auth/login', { body: { Username: 'admin', Password: password } });
  return `Bearer ${json['token']}`;
};

const titles = [
  'plain',
  'ünïcödé ß',
  '日本語',
  'emoji 🚨',
  'quotes " and \\',
  'lines\nand\ttabs',
  'nul \u0000',
  '\ud800 alone',
];

/** Creates a function that sends requests as an admin and throws unless they succeed. */
const toSend = async (request: Request) => {
  const authorization = await logIn(request);
  return async (method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<void> => {
    const { status } = await request(method, path, { ...(body && { body }), headers: { authorization, ...headers } });
    assert.ok(status < 300 || path === '/api/execute', `${method} ${path}: ${status}`);
  };
};

/** Changes incidents. An export does not contain these changes. */
const act = async (request: Request): Promise<void> => {
  const send = await toSend(request);
  await waitUntilPasses(() => send('GET', '/api/incidents/10'));
  await send('POST', '/api/incidents/1/acknowledge', { comment: 'new disk', until: '2099-01-31T08:30:00Z' });
  await send('POST', '/api/incidents/1/comment', { comment: titles.join() });
  await send('POST', '/api/incidents/2/resolve', {});
};

/** Writes one record of each kind, in every form that the program stores. */
const write = async (request: Request): Promise<void> => {
  const send = await toSend(request);
  for (const Title of titles)
    await send('POST', '/api/tasks', { Title, Priority: 'High', Description: `about ${Title}` });
  await send('POST', '/api/tasks', { Title: 'once' }, { 'idempotency-key': 'one task' });
  await send('PUT', '/api/tasks/2', { Status: 'Completed' });
  await send('DELETE', '/api/tasks/3');
  for (const title of titles.slice(0, 3)) await send('POST', '/simple/api/tasks', { title });
  for (const name of titles.slice(0, 3)) await send('POST', '/api/items', { name });
  for (const message of titles)
    await send('POST', '/api/alert', { message, level: 'ERROR', source: 'backup', hostname: 'web-1' });
  await send('POST', '/api/alert', { message: 'the disk is full' }, { 'idempotency-key': 'one alert' });
  const alerts = [
    { status: 'firing', labels: { alertname: 'DiskFull', severity: 'critical', instance: 'web-1:9100' } },
  ];
  await send('POST', '/api/alert/alertmanager', { version: '4', status: 'firing', receiver: 'x', alerts });
  for (const command of ['Get-Process -Name nothing-has-this-name', 'Remove-Item /']) {
    await send('POST', '/api/execute', { command });
  }
  await send('POST', '/api/users', { name: 'anna', role: 'Reader', password: 'of the second account' });
  await send('PUT', '/api/users/anna', { role: 'Admin' });
  for (const name of ['cron', 'gone']) await send('POST', '/api/keys', { name, scopes: ['alerts:write'] });
  await send('DELETE', '/api/keys/gone');
  await send('PUT', '/api/destinations/pager', { type: 'webhook', url: 'http://127.0.0.1:9/', sources: ['nothing'] });
  await send('PUT', '/api/intake-formats/builds', { message: 'Build {/id}' });
  await send('POST', '/api/silences', { match: { source: 'tests' }, endsAt: '2099-01-31T08:30:00Z' });
  await send('PUT', '/api/heartbeats/nightly', { schedule: '0 2 * * *', timeZone: 'UTC' });
  await send('POST', '/api/watches', { name: 'ssh', type: 'tcp', host: '127.0.0.1', port: 22, enabled: false });
};

/** Writes the fixture of this version: the data of a server that was killed, its export, and its database as SQL. */
export const makeFixture = async (t: Scope, version: string): Promise<void> => {
  const folder = join(fixtures, `data-${version}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const save = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  const toText = (readings: Reading[]): string => `${JSON.stringify(readings, undefined, 1)}\n`;

  const [from, dataDir] = [join(createFolder(t), 'data'), join(createFolder(t), 'data')];
  const first = await startProgram(t, ['--store', 'file', '--data-dir', from], { variables });
  await write(first.request);
  const readings = await readAll(first.request);
  save('expected-import.json', toText(readings.filter(({ path }) => !path.startsWith('/api/incidents'))));
  await first.stop();
  const { stdout } = await runProgram(['export', '--store', 'file', '--data-dir', from], { variables });
  save('export.jsonl', stdout);
  // An import writes state files. Later changes are in logs.
  const moved = ['--store', 'file', '--data-dir', dataDir];
  await runProgram(['import', ...moved], { variables, input: stdout });
  const second = await startProgram(t, moved, { variables });
  await second.request('POST', '/api/tasks', { body: { Title: 'after the import' } });
  await second.request('PUT', '/api/tasks/4', { body: { Status: 'InProgress' } });
  await second.request('DELETE', '/api/tasks/5');
  await second.request('POST', '/api/alert', { body: { message: 'after the import' } });
  await act(second.request);
  save('expected.json', toText(await readAll(second.request)));
  await second.stop('SIGKILL');
  // Locks are sockets. The history is large, contains readings of the machine, and is optional.
  cpSync(dataDir, join(folder, 'data'), { recursive: true, filter: (path) => !/\.lock$|history\.bin$/.test(path) });

  const database = await startPostgres(t, { version: 15 });
  const shared = { ...variables, SIGNALBOX_STORE: database.url() };
  const instance = await startProgram(t, [], { variables: shared });
  await write(instance.request);
  await act(instance.request);
  save('expected-postgres.json', toText(await readAll(instance.request)));
  await instance.stop();
  const dump = spawnSync('pg_dump', ['--inserts', '--no-owner', '--no-privileges', database.url()], {
    encoding: 'utf8',
  });
  assert.equal(dump.status, 0, dump.stderr || 'pg_dump (postgresql-client) is needed');
  // Lines with a backslash are only for psql.
  save('postgres.sql', dump.stdout.replace(/^\\.*\n/gm, ''));
};

/**
 * Reads the expected readings without the state of heartbeats that were never pinged, because such heartbeats are late
 * after their first period since version 1.2.
 */
export const readExpected = (version: string, name = 'expected.json'): Reading[] =>
  JSON.parse(readFileSync(join(fixtures, version, name), 'utf8'), (_name, value) => {
    if (!isObject(value) || value['state'] !== 'new') return value;
    const { state: _state, dueAt: _dueAt, ...others } = value;
    return others;
  });
