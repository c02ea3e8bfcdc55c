import assert from 'node:assert/strict';
import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { createDisk, diskPrograms } from '../lab/faults/support/disk.ts';
import { createFillers } from '../lab/faults/support/fillers.ts';
import { requires } from '../lab/faults/support/requirements.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { owner, toSkipPostgres } from '../support/postgres/installation.ts';
import { type PostgresServer, runSql, startPostgres } from '../support/postgres/server.ts';
import { waitUntil } from '../support/wait.ts';

const skip = toSkipPostgres();

/** Short limits, so that tests do not have to wait. */
const patience = { changesMs: 2000, readsMs: 1000 };

const startOn = (t: TestContext, server: PostgresServer, database?: string) =>
  startApp(t, { settings: { store: server.url(database), timeZone: 'UTC' }, patience });

const create = (app: TestApp, body: object = { Title: 'x' }) => app.request('POST', '/api/tasks', { body });

/** Asserts that the request is refused in time, with a statement about the outcome of the change. */
const assertRefused = async (app: TestApp, body?: object): Promise<void> => {
  const begin = performance.now();
  const { status, headers, json } = await create(app, body);
  assert.equal(status, 503);
  assert.equal(headers['retry-after'], '1');
  assert.match(String(json['error']), /database cannot be used at the moment, and the change was not applied/);
  assert.ok(performance.now() - begin < patience.changesMs + 5000);
};

/** Asserts that changes recover without intervention, and that refused changes have left no gap. */
const assertRecovers = async (app: TestApp, nextId: number): Promise<void> => {
  const results: number[] = [];
  await waitUntil('changes work again', async () => {
    const { status, json } = await create(app);
    if (status === 201) results.push(Number(json['Id']));
    return status === 201;
  });
  assert.deepEqual(results, [nextId]);
  assert.equal((await app.request('GET', '/api/tasks')).json['total'], nextId);
};

test('a lock of another session refuses changes in time, and reads continue', { skip }, async (t) => {
  const server = await startPostgres(t);
  const app = await startOn(t, server);
  await create(app);
  const other = new pg.Client({ connectionString: server.adminUrl });
  other.on('error', () => undefined);
  await other.connect();
  t.after(() => other.end());
  await other.query(`BEGIN; SELECT 1 FROM signalbox.gate WHERE name = 'task' FOR UPDATE`);
  const refused = assertRefused(app);
  await setTimeout(500);
  assert.equal((await app.request('GET', '/api/tasks/1')).status, 200);
  await refused;
  await other.query('COMMIT');
  await assertRecovers(app, 2);
});

test('a primary that accepts no changes refuses them while reads continue, and is used again', { skip }, async (t) => {
  const server = await startPostgres(t);
  const app = await startOn(t, server);
  await create(app);
  const setReadOnly = async (value: string) => {
    await server.sql(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
    await server.sql('SELECT pg_reload_conf()');
    await setTimeout(200);
  };
  await setReadOnly('on');
  await assertRefused(app);
  assert.equal((await app.request('GET', '/api/tasks/1')).status, 200);
  await setReadOnly('off');
  await assertRecovers(app, 2);
});

test('a server without free connections refuses changes and reads, and is used again', { skip }, async (t) => {
  const server = await startPostgres(t);
  const app = await startOn(t, server);
  await create(app);
  await server.sql('ALTER ROLE signalbox CONNECTION LIMIT 0');
  await endBackends(server);
  const [{ status }] = await Promise.all([app.request('GET', '/api/tasks/1'), assertRefused(app)]);
  assert.equal(status, 503);
  await server.sql('ALTER ROLE signalbox CONNECTION LIMIT -1');
  await assertRecovers(app, 2);
});

test('clients do not notice connections that the server ends', { skip }, async (t) => {
  const server = await startPostgres(t);
  const app = await startOn(t, server);
  for (let round = 1; round <= 5; round += 1) {
    const requests = Array.from({ length: 20 }, () => create(app));
    await endBackends(server);
    for (const { status } of await Promise.all(requests)) assert.equal(status, 201);
    const { json } = await app.request('GET', '/api/tasks?limit=1000');
    assert.deepEqual(
      (json['data'] as { Id: number }[]).map(({ Id }) => Id),
      Array.from({ length: round * 20 }, (_, index) => index + 1),
    );
  }
});

test('a server that stops while the database does not respond ends soon, and reports the outcome of changes', {
  skip,
}, async (t) => {
  const server = await startPostgres(t);
  const app = await startOn(t, server);
  await create(app);
  server.pause();
  t.after(() => server.resume());
  const requests = [create(app), app.request('GET', '/api/tasks/1')];
  await setTimeout(200);
  const begin = performance.now();
  await app.server.close();
  const took = performance.now() - begin;
  assert.ok(took < 7000, `${took} ms`);
  const [changed, read] = await Promise.all(requests);
  assert.deepEqual([changed?.status, read?.status], [503, 503]);
  assert.match(String(changed?.json['error']), /and the change was not applied/);
});

test('an empty database in place of the former one gets its tables, without a restart', { skip }, async (t) => {
  const server = await startPostgres(t);
  const app = await startOn(t, server);
  const replacements = [
    () => server.sql('DROP SCHEMA signalbox CASCADE'),
    async () => {
      const maintenance = server.adminUrl.replace(/\/signalbox$/, '/template1');
      await runSql(maintenance, 'DROP DATABASE signalbox WITH (FORCE)');
      await runSql(maintenance, 'CREATE DATABASE signalbox OWNER signalbox');
    },
  ];
  for (const replace of replacements) {
    await create(app);
    await replace();
    const [read, created] = [await app.request('GET', '/api/tasks'), await create(app)];
    assert.deepEqual([read.status, read.json['total']], [200, 0]);
    assert.deepEqual([created.status, created.json['Id']], [201, 1]);
  }
});

test('a database of instances with another secret in place of the former one is not used', { skip }, async (t) => {
  const server = await startPostgres(t);
  const app = await startOn(t, server);
  await create(app);
  await server.sql(`UPDATE signalbox.shared SET secret = 'other'`);
  await endBackends(server);
  assert.equal((await app.request('GET', '/api/tasks')).status, 503);
  assert.equal((await create(app)).status, 503);
  assert.deepEqual(await server.sql('SELECT count(*)::int AS count FROM signalbox.task'), [{ count: 1 }]);
});

test('/metrics has the state of the database, the number of waiting changes, and the duration of commits', {
  skip,
}, async (t) => {
  const server = await startPostgres(t);
  const app = await startOn(t, server);
  const read = async (name: string): Promise<number> => {
    const { text } = await app.request('GET', '/metrics');
    return Number(new RegExp(`^signalbox_database_${name} (.+)$`, 'm').exec(text)?.[1]);
  };
  await create(app);
  assert.deepEqual([await read('writable'), await read('errors_total'), await read('queue_changes')], [1, 0, 0]);
  assert.ok((await read('commit_duration_seconds_count')) > 0);
  await server.stop();
  const created = create(app);
  await waitUntil('the database is not writable', async () => (await read('writable')) === 0);
  assert.equal(await read('errors_total'), 1);
  const waiting = create(app);
  await waitUntil('a change waits', async () => (await read('queue_changes')) === 1);
  await server.restart();
  assert.deepEqual([(await created).status, (await waiting).status], [201, 201]);
  assert.deepEqual([await read('writable'), await read('queue_changes')], [1, 0]);
});

const endBackends = (server: PostgresServer): Promise<unknown> =>
  server.sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'signalbox'`);

const needsDisk = requires({ programs: diskPrograms, mounts: true, loops: true });

test('a full disk of the database refuses changes, and reads continue', { skip: skip || needsDisk.skip }, async (t) => {
  const server = await startPostgres(t);
  const disk = await createDisk(t, { kind: 'ext4', bytes: 64 * 1024 * 1024 });
  const location = join(disk.path, 'tables');
  mkdirSync(location);
  if (owner.uid !== undefined) for (const path of [disk.path, location]) chownSync(path, owner.uid, owner.gid);
  await server.sql(`CREATE TABLESPACE small LOCATION '${location}'`);
  await server.sql('CREATE DATABASE small OWNER signalbox TABLESPACE small');
  const app = await startOn(t, server, 'small');
  t.after(() => server.stop('SIGKILL'));
  await create(app);
  const fillers = createFillers(disk.path, 8 * 1024 * 1024, 0);
  // Random characters do not compress.
  const Description = () => Array.from({ length: 20_000 }, () => Math.random().toString(36).slice(2, 14)).join('');
  await assertRefused(app, { Title: 'large', Description: Description() });
  assert.equal((await app.request('GET', '/api/tasks/1')).status, 200);
  fillers.free();
  await assertRecovers(app, 2);
});
