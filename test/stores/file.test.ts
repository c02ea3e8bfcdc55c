import assert from 'node:assert/strict';
import { readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { itemKind } from '../../src/features/items/routes.ts';
import { simpleTaskKind } from '../../src/features/simple-tasks/routes.ts';
import { openTaskStore } from '../../src/features/tasks/memory-store.ts';
import { RepeatRefusal, StoreConflict, StoreUnavailable } from '../../src/lib/expected-errors.ts';
import { openEntryStore } from '../../src/storage/entries.ts';
import { keepIn } from '../support/changes.ts';
import { createFolder } from '../support/folder.ts';
import { testItemStore, testSimpleTaskStore } from './list-stores.ts';
import { readTask, testTaskStore } from './task-store.ts';

testTaskStore(
  'file',
  async (t, clock) => {
    const store = await openTaskStore(clock, keepIn(createFolder(t)));
    t.after(() => store.close());
    return store;
  },
  0.05,
);

testItemStore('file', async (t) => {
  const store = await openEntryStore(itemKind, keepIn(createFolder(t)));
  t.after(() => store.close());
  return store;
});

testSimpleTaskStore('file', async (t) => {
  const store = await openEntryStore(simpleTaskKind, keepIn(createFolder(t)));
  t.after(() => store.close());
  return store;
});

test('file: a refused item does not use up its id', async (t) => {
  const store = await openEntryStore(itemKind, keepIn(createFolder(t)));
  t.after(() => store.close());
  const tooLong = 'x'.repeat(17 * 1024 * 1024);
  for (let index = 0; index < 1000; index += 1) assert.throws(() => store.add({ name: tooLong }), StoreUnavailable);
  const added = await Promise.all(Array.from({ length: 1000 }, () => store.add({ name: 'x' })));
  assert.equal(new Set(added.map(({ id }) => id)).size, 1000);
});

const now = () => new Date(2026, 0, 31, 9, 30);

test('file: tasks, versions, keys and the next id are the same after a restart', async (t) => {
  const folder = createFolder(t);
  const first = await openTaskStore(now, keepIn(folder));
  const key = { key: 'k', bodyHash: 'h' };
  await first.create({ Title: 'a' }, key);
  await first.update(1, { Title: 'b' });
  await first.create({ Title: 'c' });
  await first.remove(2);
  await first.close();
  const second = await openTaskStore(now, keepIn(folder));
  t.after(() => second.close());
  const found = await second.find(1);
  assert.deepEqual([readTask(found)?.Title, found?.version], ['b', 2]);
  assert.equal(readTask(await second.create({ Title: 'a' }, key))?.Title, 'a');
  await assert.rejects(async () => second.create({ Title: 'a' }, { ...key, bodyHash: 'i' }), RepeatRefusal);
  assert.equal((await second.create({ Title: 'd' })).id, 3);
});

test('file: a change that is refused because of another change is refused only after that one is stored', async (t) => {
  const store = await openTaskStore(now, keepIn(createFolder(t)));
  t.after(() => store.close());
  await store.create({ Title: 'a' });
  const order: string[] = [];
  const note = (what: string, promise: unknown) => Promise.resolve(promise).finally(() => order.push(what));
  const updated = note('update', store.update(1, { Title: 'b' }));
  const refused = note('conflict', store.update(1, { Title: 'c' }, [1]));
  const removed = note('remove', store.remove(1));
  const absent = note('absent', store.update(1, { Title: 'd' }));
  order.push('requests');
  await assert.rejects(refused, StoreConflict);
  assert.equal(await absent, undefined);
  await Promise.all([updated, removed]);
  assert.deepEqual(order, ['requests', 'update', 'conflict', 'remove', 'absent']);
});

test('file: the snapshot is written while changes continue, and the log before it is deleted', async (t) => {
  const folder = createFolder(t);
  const first = await openTaskStore(now, keepIn(folder));
  const Description = 'x'.repeat(100_000);
  for (let round = 0; round < 6; round += 1) {
    await Promise.all(Array.from({ length: 100 }, () => first.create({ Title: 'a', Description })));
  }
  await first.update(3, { Title: 'changed' });
  await first.close();
  const second = await openTaskStore(now, keepIn(folder));
  t.after(() => second.close());
  assert.equal((await second.list({}, 0)).total, 600);
  assert.equal(readTask(await second.find(3))?.Title, 'changed');
  const logBytes = readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  assert.ok(statSync(join(folder, 'tasks.state')).size > 16e6);
  assert.ok(logBytes < 60e6, `${logBytes} bytes of log`);
});

test('file: seed tasks are kept, and loaded once', async (t) => {
  const folder = createFolder(t);
  const first = await openTaskStore(now, keepIn(folder));
  assert.equal(await first.restore([{ Title: 'a' }, { Id: 7, Title: 'b' }], true), undefined);
  await first.close();
  const second = await openTaskStore(now, keepIn(folder));
  t.after(() => second.close());
  assert.equal(await second.restore([{ Title: 'again' }], true), undefined);
  assert.deepEqual([readTask(await second.find(7))?.Title, (await second.create({ Title: 'c' })).id], ['b', 8]);
});

test('file: the snapshot ends after the last task, also if that task fills the tree', async (t) => {
  const folder = createFolder(t);
  const first = await openTaskStore(now, keepIn(folder));
  await first.restore(Array.from({ length: 31 }, () => ({ Title: 'seed' })));
  await first.close();
  const second = await openTaskStore(now, keepIn(folder));
  t.after(() => second.close());
  assert.equal((await second.list({}, 0)).total, 31);
});

test('file: a restart needs no log that was moved away', async (t) => {
  const folder = createFolder(t);
  const first = await openTaskStore(now, keepIn(folder));
  await first.create({ Title: 'a' });
  renameSync(join(folder, 'tasks.jsonl'), join(folder, 'elsewhere'));
  await first.create({ Title: 'b' });
  await first.close();
  const second = await openTaskStore(now, keepIn(folder));
  t.after(() => second.close());
  assert.deepEqual([readTask(await second.find(1))?.Title, readTask(await second.find(2))?.Title], ['a', 'b']);
});

for (const [what, spoil] of [
  ['state', (folder: string) => join(folder, 'tasks.state')],
  ['log', (folder: string) => join(folder, 'tasks.jsonl')],
] as const) {
  test(`file: a damaged ${what} is refused, not read in part`, async (t) => {
    const folder = createFolder(t);
    const first = await openTaskStore(now, keepIn(folder));
    await first.restore(Array.from({ length: 100 }, () => ({ Title: 'seed' })));
    for (let index = 0; index < 10; index += 1) await first.create({ Title: 'a' });
    await first.close();
    const path = spoil(folder);
    const bytes = readFileSync(path);
    bytes.writeUInt8(bytes.readUInt8(200) ^ 1, 200);
    writeFileSync(path, bytes);
    await assert.rejects(openTaskStore(now, keepIn(folder)), /damaged/);
  });
}
