import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Heartbeat } from '../../../src/features/heartbeats/schema.ts';
import { startApp } from '../../support/app.ts';
import { secret } from '../../support/credentials.ts';
import { createFolder } from '../../support/folder.ts';
import { toSkipPostgres } from '../../support/postgres/installation.ts';
import { runSql } from '../../support/postgres/server.ts';
import { createEmptyDatabase } from '../../support/postgres/shared-server.ts';
import { type Running, runProgram, startProgram } from '../../support/program.ts';
import type { Scope } from '../../support/scope.ts';
import { createClaims, signToken } from '../../support/tokens.ts';
import { waitUntil } from '../../support/wait.ts';

const token = signToken(createClaims());
const limitMs = 15_000;

/** Text of 18 kB. About 920 changes with such a text fit into 16 MiB. */
const description = '€'.repeat(4000);
const tags = Array.from({ length: 20 }, (_, index) => `${index}${'€'.repeat(98)}`);
const changeCount = 1200;

const common = { SIGNALBOX_JWT_SECRET: secret, TZ: 'UTC' };

/** Creates a database, and a function that starts instances on that database. */
const createShared = async (t: Scope) => {
  const url = await createEmptyDatabase();
  const variables = { ...common, SIGNALBOX_STORE: url };
  const readNumber = async (text: string): Promise<number> => {
    const [row] = await runSql<{ number: string }>(url, `SELECT (${text}) AS number`);
    return Number(row?.number);
  };
  return {
    variables,
    start: () => startProgram(t, ['--profiles', 'incidents'], { variables }),
    settings: { store: url, timeZone: 'UTC', profiles: ['incidents'] },
    sql: (text: string) => runSql(url, text),
    countRows: () => readNumber('SELECT count(*) FROM signalbox.setting'),
    countRead: () =>
      readNumber(`SELECT count(*) FROM signalbox.setting
        WHERE seq > coalesce((SELECT seq FROM signalbox.projection WHERE name = 'setting'), 0)`),
    readableBy: () => readNumber('SELECT readable_by FROM signalbox.schema'),
  };
};

const put = async ({ request }: Running, name: string, period: number, headers = {}): Promise<Heartbeat> => {
  const { status, json, text } = await request<Heartbeat & Record<string, unknown>>('PUT', `/api/heartbeats/${name}`, {
    token,
    headers,
    body: { period, description, tags },
  });
  assert.ok([200, 201].includes(status), text);
  return json;
};

const read = async ({ request }: Running, name: string): Promise<Heartbeat | undefined> => {
  const { status, json } = await request<Heartbeat & Record<string, unknown>>('GET', `/api/heartbeats/${name}`, {
    token,
  });
  return status === 200 ? json : undefined;
};

/** Returns the members of a heartbeat that come from its setting. */
const toDefinition = (heartbeat: Heartbeat | undefined) => {
  const { name, uuid, version, period } = heartbeat as Heartbeat;
  return { name, uuid, version, period };
};

/** Changes one heartbeat many times, and deletes another. */
const changeOften = async (server: Running): Promise<Heartbeat> => {
  const first = await put(server, 'job', 60);
  await put(server, 'gone', 60);
  await server.request('DELETE', '/api/heartbeats/gone', { token });
  let next = 61;
  const change = async (): Promise<void> => {
    while (next < 60 + changeCount) {
      const period = next;
      next += 1;
      await put(server, 'job', period);
    }
  };
  await Promise.all(Array.from({ length: 64 }, change));
  const last = await put(server, 'job', 86_400);
  assert.equal(last.uuid, first.uuid);
  return last;
};

/** Waits until a new instance has deleted old rows. */
const awaitDeletion = async (t: Scope, { sql, settings }: Awaited<ReturnType<typeof createShared>>): Promise<void> => {
  const id = randomUUID();
  await sql(`INSERT INTO signalbox.writer (instance, epoch, batch, name, version, seen_at)
    VALUES ('${id}', 1, 1, 'ended', '1.1.0', now() - interval '3 days')`);
  const app = await startApp(t, { settings });
  const find = () => sql(`SELECT 1 FROM signalbox.writer WHERE instance = '${id}'`);
  await waitUntil('old rows are deleted', async () => (await find()).length === 0, limitMs);
  await app.close();
};

test('postgres: many changes of a setting leave few rows, and each instance has the last change, also after kill -9 or a pause', {
  skip: toSkipPostgres(),
}, async (t) => {
  const shared = await createShared(t);
  const { start, countRows, countRead, readableBy } = shared;
  const [one, paused] = [await start(), await start()];
  paused.child.kill('SIGSTOP');
  const last = await changeOften(one);
  await waitUntil('a snapshot is written', async () => (await countRead()) < 1000, limitMs);
  assert.equal(await countRows(), changeCount + 3);
  await one.stop('SIGKILL');

  // An instance of an earlier version reads all rows on startup.
  await shared.sql(`INSERT INTO signalbox.writer (instance, epoch, batch, name, version, seen_at)
    VALUES ('${randomUUID()}', 1, 1, 'older', '1.1.0', now())`);
  await awaitDeletion(t, shared);
  assert.deepEqual([await countRows(), await readableBy()], [changeCount + 3, 1]);
  await shared.sql(`DELETE FROM signalbox.writer WHERE name = 'older'`);

  const app = await startApp(t, { settings: shared.settings });
  await waitUntil('earlier versions are refused', async () => (await readableBy()) === 10, limitMs);
  assert.equal(await countRows(), changeCount + 3);
  await app.close();
  const killed = await start();
  await waitUntil('rows are deleted', async () => (await countRows()) < 1000, limitMs);
  await killed.stop('SIGKILL');
  assert.ok((await countRows()) > 900);

  const next = await start();
  assert.deepEqual(toDefinition(await read(next, 'job')), toDefinition(last));
  assert.equal(await read(next, 'gone'), undefined);
  const { json } = await next.request<{ data: { seq: number }[] }>('GET', '/api/audit?limit=500', { token });
  assert.deepEqual([json.data.length, json.data[0]?.seq], [500, changeCount + 3]);

  paused.child.kill('SIGCONT');
  await waitUntil(
    'the paused instance has the last change',
    async () => (await read(paused, 'job'))?.period === 86_400,
  );
  assert.deepEqual(toDefinition(await read(paused, 'job')), toDefinition(last));
  const changed = await put(paused, 'job', 60, { 'if-match': `"${last.version}"` });
  assert.ok(changed.version > last.version);

  const exported = await runProgram(['export'], { variables: shared.variables });
  assert.equal(exported.code, 0, exported.stderr);
  const flags = ['--store', 'file', '--data-dir', join(createFolder(t), 'data')];
  const imported = await runProgram(['import', ...flags], { variables: common, input: exported.stdout });
  assert.equal(imported.code, 0, imported.stderr);
  const moved = await startProgram(t, ['--profiles', 'incidents', ...flags], { variables: common });
  const { version, uuid } = (await read(moved, 'job')) as Heartbeat;
  assert.deepEqual([version, uuid], [changed.version, changed.uuid]);
});
