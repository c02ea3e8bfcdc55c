import assert from 'node:assert/strict';
import { test } from 'node:test';
import { end, header, lastId, task } from '../support/export-lines.ts';
import { createFolder } from '../support/folder.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { createEmptyDatabase, shareServer } from '../support/postgres/shared-server.ts';
import { refusal, runCommand } from '../support/program.ts';
import { toStoreFlags } from '../support/store-flags.ts';
import { fileStore, fill, logIn, start } from '../support/transfer.ts';

const skip = toSkipPostgres();

/** Returns the flag that names a new database. */
const createStore = async (): Promise<string[]> => toStoreFlags(await createEmptyDatabase());

const importText = (store: string[], lines: readonly string[]) =>
  runCommand(['import', ...store], { input: lines.map((line) => `${line}\n`).join('') });

test('lists, versions, keys and ids are the same after an export from files, a database and files', {
  skip,
}, async (t) => {
  const [before, database, last] = [await fill(t), await createStore(), createFolder(t)];
  const exported = await runCommand(['export', ...fileStore(before)]);
  const counts = 'tasks 2, taskKeys 1, simpleTasks 1, items 2';
  for (const store of [database, fileStore(last)]) {
    const imported = await runCommand(['import', ...store], { input: exported.stdout });
    assert.deepEqual(
      [imported.code, imported.stdout, imported.stderr],
      [0, '', `signalbox: imported ${counts}\n`],
      store[1],
    );
    const again = await runCommand(['export', ...store]);
    assert.deepEqual([again.code, again.stderr], [0, `signalbox: exported ${counts}\n`]);
    assert.equal(again.stdout, exported.stdout);
  }
});

test('an instance continues after an import into its database, even if the instance ran during the import', {
  skip,
}, async (t) => {
  const url = await createEmptyDatabase();
  const database = toStoreFlags(url);
  const running = await start(t, createFolder(t), url);
  const { stdout: input } = await runCommand(['export', ...fileStore(await fill(t))]);
  assert.equal((await runCommand(['import', ...database], { input })).code, 0);
  const instance = await start(t, createFolder(t), url);
  for (const { request } of [running, instance]) {
    const { json, headers } = await request('GET', '/api/tasks/1');
    assert.deepEqual([json['Description'], headers['etag']], ['\u0000 \ud800 \u2028 "},{"', '"2"']);
  }
  const totals = await Promise.all(
    ['', '?status=InProgress', '?priority=Critical&status=Pending', '?status=Completed'].map(
      async (query) => (await instance.request('GET', `/api/tasks${query}`)).json['total'],
    ),
  );
  assert.deepEqual(totals, [2, 1, 1, 0]);
  const body = { Title: 'first', Description: '\u0000 \ud800 \u2028 "},{"' };
  const known = await instance.request('POST', '/api/tasks', { body, headers: { 'Idempotency-Key': 'k' } });
  assert.equal(known.json['Id'], 1);
  const created = await running.request('POST', '/api/tasks', { body: { Title: 'next' } });
  assert.equal(created.json['Id'], 4);
  await instance.request('POST', '/simple/api/tasks', { body: { title: 'second' } });
  assert.match((await running.request('GET', '/simple/api/tasks/2')).text, /second/);
  const headers = await logIn(instance);
  await instance.request('POST', '/api/items', { body: { name: 'third' }, headers });
  const items = await running.request<{ data: { id: number }[] }>('GET', '/api/items', { headers });
  assert.equal(new Set(items.json.data.map(({ id }) => id)).size, 3);
});

test('an import into a database stores everything or nothing, and only into an empty one', { skip }, async () => {
  const database = await createStore();
  const many = Array.from({ length: 2500 }, (_, index) => task(index + 1));
  const { code, stderr } = await importText(database, [header, lastId(2500), ...many, task(7), end]);
  assert.deepEqual(
    [code, stderr],
    [1, 'signalbox: line 2503: tasks.Id must be higher than the ids of all preceding tasks; nothing was imported\n'],
  );
  assert.match(
    (await importText(database, [header, lastId(2500), ...many])).stderr,
    /its last line is missing; nothing was imported/,
  );
  const tooHigh = task(9).replace('"version":1', '"version":3000000000');
  assert.match((await importText(database, [header, lastId(9), task(8), tooHigh, end])).stderr, /nothing was imported/);
  assert.equal(
    (await importText(database, [header, lastId(2500), ...many, end])).stderr,
    'signalbox: imported tasks 2500\n',
  );
  assert.equal(
    (await importText(database, [header, lastId(9), task(8), end])).stderr,
    'signalbox: the store is not empty, because tasks are or were stored; import into an empty store\n',
  );
  const { stdout } = await runCommand(['export', ...database]);
  assert.equal(stdout, [header, lastId(2500), ...many, end, ''].join('\n'));
});

test('an export or import without a usable database is refused in one line', { skip }, async () => {
  const database = await createStore();
  const nothing = 'store: the database has nothing to export';
  assert.equal(await refusal(['export', ...database], 1), nothing);
  // The refused commands change nothing.
  assert.equal(await refusal(['export', ...database], 1), nothing);
  for (const command of ['export', 'import']) {
    const name = (await shareServer()).url('nowhere');
    assert.equal(
      await refusal([command, ...toStoreFlags(name)], 1),
      'store: the database cannot be used: the database does not exist: create the database, or correct the address',
    );
  }
});
