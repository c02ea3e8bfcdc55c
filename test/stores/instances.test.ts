import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { startApp } from '../support/app.ts';
import { sendRaw } from '../support/connection.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { type PostgresServer, startPostgres } from '../support/postgres/server.ts';
import { waitUntil } from '../support/wait.ts';

const skip = toSkipPostgres();

interface InstanceList {
  count: number;
  data: { name: string; version: string; instance: string; seenAt: string; isLive: boolean; isThis: boolean }[];
}

const startNamed = (t: TestContext, { url }: Pick<PostgresServer, 'url'>, instanceName: string) =>
  startApp(t, {
    settings: { store: url(), timeZone: 'UTC', instanceName },
    patience: { changesMs: 2000, readsMs: 500 },
  });

test('instances that share a database list each other, and delete those not seen for a day', {
  skip,
}, async (t) => {
  const server = await startPostgres(t, { settings: { fsync: 'off' } });
  const [two, one] = [await startNamed(t, server, 'two'), await startNamed(t, server, 'one')];
  const token = await one.login('admin');
  const list = async (app: typeof one) => (await app.request<InstanceList>('GET', '/api/instances', { token })).json;
  const { count, data } = await list(one);
  assert.equal(count, 2);
  assert.deepEqual(
    data.map(({ name, isLive, isThis }) => [name, isLive, isThis]),
    [
      ['one', true, true],
      ['two', true, false],
    ],
  );
  assert.notEqual(data[0]?.instance, data[1]?.instance);
  for (const { seenAt } of data) assert.ok(Math.abs(Date.parse(seenAt) - Date.now()) < 60_000, seenAt);
  // The unresponsive instance was started first and ends, so its row expires.
  await one.close();
  const setAge = (age: string) =>
    server.sql(`UPDATE signalbox.writer SET seen_at = now() - interval '${age}' WHERE name = 'one'`);
  await setAge('61 s');
  const late = await list(two);
  assert.deepEqual(
    late.data.map(({ name, isLive, isThis }) => [name, isLive, isThis]),
    [
      ['two', true, true],
      ['one', false, false],
    ],
  );
  await setAge('25 hours');
  assert.equal((await list(two)).count, 1);
  await two.close();
  await startNamed(t, server, 'three');
  await waitUntil('the row is deleted', async () => {
    const rows = await server.sql('SELECT name FROM signalbox.writer ORDER BY name');
    return isDeepStrictEqual(
      rows.map(({ name }) => name),
      ['three', 'two'],
    );
  });
});

test('instances are listed while the database accepts no changes', { skip }, async (t) => {
  const server = await startPostgres(t, { settings: { fsync: 'off' } });
  const app = await startNamed(t, server, 'one');
  const token = await app.login('admin');
  await server.sql('ALTER SYSTEM SET default_transaction_read_only = on');
  await server.sql('SELECT pg_reload_conf()');
  await waitUntil('the database takes no changes', async () => {
    const [row] = await server.sql('SHOW transaction_read_only');
    return row?.['transaction_read_only'] === 'on';
  });
  for (let count = 0; count < 4; count += 1) {
    assert.equal((await app.request('GET', '/api/instances', { token })).status, 200);
  }
});

test('the list of instances needs the role Admin, and gets 503 while the database is unavailable', {
  skip,
}, async (t) => {
  const server = await startPostgres(t, { settings: { fsync: 'off' } });
  const app = await startNamed(t, server, 'one');
  assert.equal((await app.request('GET', '/api/instances')).status, 401);
  assert.equal((await app.request('GET', '/api/instances', { token: await app.login('reader') })).status, 200);
  const token = await app.login('admin');
  await server.stop('SIGQUIT');
  const { status, headers } = await app.request('GET', '/api/instances', { token });
  assert.equal(status, 503);
  assert.ok(headers['retry-after']);
});

test('with a database each response names its instance, and without a database no response does', {
  skip,
}, async (t) => {
  const nowhere = { url: () => 'postgres://127.0.0.1:1/none' };
  const app = await startNamed(t, nowhere, 'rack-1/a');
  for (const path of ['/health', '/docs/', '/none']) {
    assert.equal((await app.request('GET', path)).headers['x-signalbox-instance'], 'rack-1/a', path);
  }
  const refused = await sendRaw(app.url, 'nonsense\r\n\r\n');
  assert.match(String(refused), /\r\nx-signalbox-instance: rack-1\/a\r\n/i);
  const named = await startApp(t, { settings: { store: nowhere.url(), timeZone: 'UTC' } });
  assert.match((await named.request('GET', '/health')).headers['x-signalbox-instance'] ?? '', /^[!-~]+:8080$/);
  const { request } = await startApp(t, { settings: { instanceName: 'alone' } });
  assert.equal((await request('GET', '/health')).headers['x-signalbox-instance'], undefined);
  assert.equal((await request('GET', '/api/instances')).status, 404);
});

test('an instance whose row was deleted registers with a higher epoch, so its earlier statements are refused', {
  skip,
}, async (t) => {
  const server = await startPostgres(t, { settings: { fsync: 'off' } });
  const app = await startNamed(t, server, 'one');
  const readEpoch = async () => {
    const [row] = await server.sql<{ epoch: string }>('SELECT epoch FROM signalbox.writer');
    return BigInt(row?.epoch ?? 0);
  };
  const create = async () => (await app.request('POST', '/api/tasks', { body: { Title: 'x' } })).json['Id'];
  assert.equal(await create(), 1);
  const before = await readEpoch();
  await server.sql('DELETE FROM signalbox.writer');
  assert.equal(await create(), 2);
  const after = await readEpoch();
  assert.ok(after > before, `${after} after ${before}`);
});
