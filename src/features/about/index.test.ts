import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { startApp } from '../../../test/support/app.ts';
import { toSkipPostgres } from '../../../test/support/postgres/installation.ts';
import { createDatabase } from '../../../test/support/postgres/shared-server.ts';
import { readOwnTimeZone } from '../../lib/time-zone.ts';
import { programVersion } from '../../server/package-info.ts';
import { readLicences } from './licences.ts';

const read = async (app: Awaited<ReturnType<typeof startApp>>, name: 'admin' | 'reader') =>
  (await app.request('GET', '/api/about', { token: await app.login(name) })).json;

test('an Admin sees the data folder, a Reader only the version and store, and others nothing', async (t) => {
  const app = await startApp(t, { settings: { store: 'file' } });
  const all = await read(app, 'admin');
  assert.deepEqual(
    [all['version'], all['store'], all['dataFolder'], all['runtime']],
    [programVersion, 'file', join(app.folder, 'data'), `Node.js ${process.versions.node}`],
  );
  assert.ok(Number(all['freeBytes']) > 0 && Number(all['uptimeSeconds']) < 60, JSON.stringify(all));
  const some = await read(app, 'reader');
  assert.deepEqual([some['store'], some['dataFolder']], ['file', null]);
  assert.equal((await app.request('GET', '/api/about')).status, 401);
});

test('a database is reported without its address', { skip: toSkipPostgres() }, async (t) => {
  const app = await startApp(t, { settings: { store: await createDatabase(), timeZone: 'UTC' } });
  const { store } = await read(app, 'admin');
  assert.equal(store, 'postgresql');
});

test('every library in the program and its pages is listed with its licence', async (t) => {
  const app = await startApp(t);
  const { json } = await app.request<{ count: number; data: Record<string, string>[] }>('GET', '/api/about/licences', {
    token: await app.login('reader'),
  });
  assert.equal(json.count, json.data.length);
  const names = json.data.map(({ name }) => name);
  // Libraries used by the program, the console, its icons, a native module, and the API reference.
  for (const name of [
    'fastify',
    'preact',
    '@iconify-json/lucide',
    '@node-rs/argon2',
    '@scalar/fastify-api-reference',
  ]) {
    assert.ok(names.includes(name), name);
  }
  assert.ok(!names.includes('postgres-18') && !names.includes('typescript'));
  for (const { name, version, licence, text } of json.data) {
    assert.ok(version && licence && text && text.length > 20, name);
  }
  assert.match(json.data.find(({ name }) => name === 'fastify')?.['text'] ?? '', /The Fastify team/i);
  const versions = json.data.map(({ name, version }) => `${name} ${version}`);
  assert.deepEqual(versions, [...new Set(versions)]);
});

test('if the program contains Node.js, its licence comes first', () => {
  const files: Record<string, string> = { 'dist/licences.json': '[]', 'dist/node-license.txt': 'Node.js is licensed' };
  const [node, ...others] = readLicences((path) => Buffer.from(files[path] ?? ''));
  assert.deepEqual([node?.name, node?.text, others], ['Node.js', 'Node.js is licensed', []]);
});

test('the preview of a schedule shows the next times of its cron expression in its time zone', async (t) => {
  const app = await startApp(t);
  const token = await app.login('reader');
  const ask = (query: Record<string, string>) =>
    app.request<{ data: string[]; timeZone: string; error?: string }>(
      'GET',
      `/api/about/schedule?${new URLSearchParams(query)}`,
      { token },
    );
  const { json } = await ask({ schedule: '0 12 */2 * 1', timeZone: 'UTC' });
  assert.equal(json.data.length, 3);
  for (const at of json.data) {
    const time = new Date(at);
    // If either day field begins with *, a time must match both day fields.
    assert.deepEqual([time.getUTCDay(), time.getUTCHours(), time.getUTCDate() % 2], [1, 12, 1], at);
  }
  const { json: far } = await ask({ schedule: '30 5 * * *', timeZone: 'Asia/Kolkata' });
  assert.deepEqual([far.timeZone, far.data.map((at) => at.slice(11, 16))], ['Asia/Kolkata', Array(3).fill('00:00')]);
  const { json: own } = await ask({ schedule: '@daily' });
  assert.deepEqual([own.timeZone, own.data.map((at) => new Date(at).getHours())], [readOwnTimeZone(), [0, 0, 0]]);
  for (const query of [
    { schedule: '2030-01-01' },
    { schedule: '0 2 30 2 *' },
    { schedule: '0 2 * * *', timeZone: 'X' },
    {},
  ]) {
    const refused = await ask(query as Record<string, string>);
    assert.equal(refused.status, 400, JSON.stringify(query));
  }
  assert.equal((await app.request('GET', '/api/about/schedule?schedule=0+2+*+*+*')).status, 401);
});
