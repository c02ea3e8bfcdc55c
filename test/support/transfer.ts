import assert from 'node:assert/strict';
import { test } from 'node:test';
import { samples } from './alert-samples.ts';
import { startApp, type TestApp } from './app.ts';
import { createFolder } from './folder.ts';
import { toSkipPostgres } from './postgres/installation.ts';
import { createEmptyDatabase } from './postgres/shared-server.ts';
import { runCommand } from './program.ts';
import type { Scope } from './scope.ts';
import { toStoreFlags } from './store-flags.ts';

const secret = 'a signing key for tests, 32 bytes or more';
export const variables = { SIGNALBOX_JWT_SECRET: secret, SIGNALBOX_ADMIN_PASSWORD: 'correct horse' };

export const fileStore = (folder: string): string[] => ['--store', 'file', '--data-dir', folder];

/** Starts an app with the records in the folder, or with the records in another store. */
export const start = (t: Scope, dataDir: string, store = 'file'): Promise<TestApp> =>
  startApp(t, { settings: { store, dataDir, timeZone: 'UTC' } });

export const logIn = async ({ login }: TestApp): Promise<{ Authorization: string }> => ({
  Authorization: `Bearer ${await login('admin')}`,
});

/** Creates a folder with tasks, items and simple tasks, in the state in which a server leaves it. */
export const fill = async (t: Scope): Promise<string> => {
  const folder = createFolder(t);
  const server = await start(t, folder);
  const { request } = server;
  const headers = { 'Idempotency-Key': 'k' };
  const hostile = '\u0000 \ud800 \u2028 "},{"';
  await request('POST', '/api/tasks', { body: { Title: 'first', Description: hostile }, headers });
  await request('PUT', '/api/tasks/1', { body: { Status: 'InProgress' } });
  await request('POST', '/api/tasks', { body: { Title: '😀'.repeat(200), Priority: 'Critical' } });
  await request('POST', '/api/tasks', { body: { Title: 'deleted' } });
  await request('DELETE', '/api/tasks/3');
  for (const name of ['label printer', 'x'.repeat(100_000)]) {
    await request('POST', '/api/items', { body: { name }, headers: await logIn(server) });
  }
  await request('POST', '/simple/api/tasks', { body: { title: 'Get milk' } });
  await server.close();
  return folder;
};

/** Alert sent with the Idempotency-Key `k`. */
const keyed = { level: 'ERROR', message: '\u0000 \ud800 \u2028 "},{"', source: 'once' };

/** Sends the alert again, like a client that got no response. */
export const sendKeyed = async ({ request }: TestApp, changes: object = {}) =>
  request('POST', '/api/alert', { body: { ...keyed, ...changes }, headers: { 'Idempotency-Key': 'k' } });

/** Sends a group of two alerts from another program. Both are repeated later. */
export const sendGroup = async ({ request }: TestApp): Promise<unknown> => {
  const { status, json } = await request('POST', '/api/alert/alertmanager', { body: samples.alertmanager });
  assert.equal(status, 200);
  return json;
};

/** Stores five alerts and two executions. */
export const sendAlerts = async (server: TestApp): Promise<void> => {
  const { request } = server;
  assert.equal((await sendKeyed(server)).status, 200);
  await sendGroup(server);
  await request('POST', '/api/alert', { body: { level: '\u0000', message: 'x'.repeat(300_000) } });
  await request('POST', '/api/alert', { body: { message: 'last', hostname: 'web-1' } });
  const headers = await logIn(server);
  for (const command of ['Get-Process -Name node*', 'Remove-Item x']) {
    const { status } = await request('POST', '/api/execute', { body: { command }, headers });
    assert.ok(status === 200 || status === 403);
  }
};

/** Settings of a store, and the flags that name it. */
export interface Place {
  settings: { store: string; dataDir: string };
  flags: string[];
}

export const createFiles = (t: Scope): Place => {
  const dataDir = createFolder(t);
  return { settings: { store: 'file', dataDir }, flags: fileStore(dataDir) };
};

export const createTables = async (t: Scope): Promise<Place> => {
  const store = await createEmptyDatabase();
  return { settings: { store, dataDir: createFolder(t) }, flags: toStoreFlags(store) };
};

export const exportFrom = async ({ flags }: Place): Promise<string> => {
  const { code, stdout, stderr } = await runCommand(['export', ...flags]);
  assert.equal(code, 0, stderr);
  return stdout;
};

export const importInto = async ({ flags }: Place, input: string): Promise<string> => {
  const { code, stderr } = await runCommand(['import', ...flags], { input });
  assert.equal(code, 0, stderr);
  return stderr;
};

interface Moved<Before> {
  /** Name of the records, such as `incidents`. */
  what: string;
  /** Fills a store, and returns what a server reads from the store. */
  fill(t: Scope, place: Place): Promise<Before>;
  /** Checks that a server on an imported store continues correctly. */
  assertGoesOn(t: Scope, place: Place, before: Before): Promise<void>;
  /** Message of an import into files. */
  imported: RegExp;
}

/** Tests that records stay the same when they are moved between files and databases and then moved again. */
export const testMoves = <Before>({ what, fill: fillWith, assertGoesOn, imported }: Moved<Before>): void => {
  const assertMovesOn = async (t: Scope, place: Place): Promise<void> => {
    const next = createFiles(t);
    const text = await exportFrom(place);
    await importInto(next, text);
    assert.equal(await exportFrom(next), text);
  };

  test(`${what} are the same after an export and an import of files`, async (t) => {
    const place = createFiles(t);
    const before = await fillWith(t, place);
    const text = await exportFrom(place);
    const next = createFiles(t);
    assert.match(await importInto(next, text), imported);
    assert.equal(await exportFrom(next), text);
    await assertGoesOn(t, next, before);
    await assertMovesOn(t, next);
  });

  test(`${what} are the same after a move from files to a database and back`, { skip: toSkipPostgres() }, async (t) => {
    const place = createFiles(t);
    const before = await fillWith(t, place);
    const text = await exportFrom(place);
    const [database, back] = [await createTables(t), createFiles(t)];
    await importInto(database, text);
    assert.equal(await exportFrom(database), text);
    await importInto(back, await exportFrom(database));
    await assertGoesOn(t, database, before);
    await assertGoesOn(t, back, before);
    await assertMovesOn(t, database);
  });

  test(`${what} are the same after a move from one database to another`, { skip: toSkipPostgres() }, async (t) => {
    const [place, next] = [await createTables(t), await createTables(t)];
    const before = await fillWith(t, place);
    await importInto(next, await exportFrom(place));
    await assertGoesOn(t, next, before);
  });
};
