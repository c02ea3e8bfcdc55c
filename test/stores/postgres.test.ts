import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { itemKind } from '../../src/features/items/routes.ts';
import { simpleTaskKind } from '../../src/features/simple-tasks/routes.ts';
import { createPostgresTaskStore } from '../../src/features/tasks/postgres-store.ts';
import { RepeatRefusal, StoreConflict, ValueRefusal } from '../../src/lib/expected-errors.ts';
import { Database } from '../../src/storage/postgres/database.ts';
import { createPostgresEntryStore } from '../../src/storage/postgres/entries.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { runSql } from '../support/postgres/server.ts';
import { createDatabase, createEmptyDatabase } from '../support/postgres/shared-server.ts';
import { atEnd } from '../support/scope.ts';
import { testItemStore, testSimpleTaskStore } from './list-stores.ts';
import { readTask, testTaskStore } from './task-store.ts';

const skip = toSkipPostgres();

/** Opens another instance on the database. */
const open = (t: TestContext, url: string, onMigrated: (done: number, total: number) => void = () => {}): Database => {
  const identity = { instance: randomUUID(), name: 'test', version: '0' };
  const ignore = () => undefined;
  const common = { secret: 'x'.repeat(32), timeZone: 'UTC' };
  const database = new Database(url, identity, common, {
    report: ignore,
    onRefused: ignore,
    onCommit: ignore,
    onMigrated,
  });
  database.begin();
  atEnd(t, () => database.close());
  return database;
};

const openNew = async (t: TestContext): Promise<Database> => open(t, await createDatabase(t));

const now = () => new Date(2026, 0, 31, 9, 30);

if (!skip) {
  testTaskStore('postgres', async (t, clock) => createPostgresTaskStore(await openNew(t), clock), 0.02);
  testItemStore('postgres', async (t) => createPostgresEntryStore(itemKind, await openNew(t), now));
  testSimpleTaskStore('postgres', async (t) => createPostgresEntryStore(simpleTaskKind, await openNew(t), now));
}

test('postgres: each migration is reported once, and none on tables that are up to date', {
  skip,
}, async (t) => {
  const url = await createEmptyDatabase();
  const reported: [number, number][] = [];
  await open(t, url, (...step) => reported.push(step)).check();
  assert.deepEqual(
    reported,
    Array.from({ length: reported.length }, (_, done) => [done, reported.length - 1]),
  );
  assert.ok(reported.length > 5);
  const before = reported.length;
  await open(t, url, (...step) => reported.push(step)).check();
  assert.equal(reported.length, before);
});

test('postgres: an instance reads the changes of another instance', { skip }, async (t) => {
  const url = await createDatabase(t);
  const [first, second] = [open(t, url), open(t, url)].map((database) => createPostgresTaskStore(database, now));
  assert.ok(first && second);
  const created = await Promise.all(
    Array.from({ length: 100 }, (_, index) => (index % 2 ? first : second).create({ Title: `${index}` })),
  );
  assert.deepEqual(
    created.map(({ id }) => id).toSorted((a, b) => a - b),
    Array.from({ length: 100 }, (_, index) => index + 1),
  );
  const changed = await first.update(7, { Title: 'changed' }, [1]);
  assert.equal(changed?.version, 2);
  assert.equal(readTask(await second.find(7))?.Title, 'changed');
  await assert.rejects(async () => second.update(7, { Title: 'x' }, [1]), StoreConflict);
  assert.equal(await second.remove(7), 99);
  assert.equal(await first.find(7), undefined);
});

test('postgres: a key creates one task although any instance may get the repeated request', { skip }, async (t) => {
  const url = await createDatabase(t);
  const [first, second] = [open(t, url), open(t, url)].map((database) => createPostgresTaskStore(database, now));
  assert.ok(first && second);
  const key = { key: 'k', bodyHash: 'h' };
  const created = await Promise.all([first.create({ Title: 'a' }, key), second.create({ Title: 'a' }, key)]);
  assert.deepEqual(
    created.map(({ id }) => id),
    [1, 1],
  );
  await first.update(1, { Title: 'b' });
  assert.equal(readTask(await second.create({ Title: 'a' }, key))?.Title, 'a');
  await assert.rejects(async () => second.create({ Title: 'a' }, { ...key, bodyHash: 'i' }), RepeatRefusal);
});

test('postgres: seed tasks are stored once, with any number of simultaneous starts', { skip }, async (t) => {
  const url = await createDatabase(t);
  const stores = Array.from({ length: 8 }, () => createPostgresTaskStore(open(t, url), now));
  await Promise.all(stores.map((store) => store.restore([{ Title: 'a' }, { Id: 7, Title: 'b' }], true)));
  assert.equal((await stores[0]?.list({}, 50))?.total, 2);
});

test('postgres: a third long list waits, while short lists and changes do not', { skip }, async (t) => {
  const store = createPostgresTaskStore(await openNew(t), now);
  await store.restore(Array.from({ length: 1500 }, () => ({ Title: 'a' })));
  const lists = await Promise.all([store.list({}, 2000), store.list({}, 2000)]);
  const third = store.list({}, 2000);
  assert.equal((await store.list({}, 50)).count, 50);
  assert.equal((await store.create({ Title: 'b' })).id, 1501);
  const read = async ({ pieces }: Awaited<typeof third>): Promise<number> => {
    let count = 0;
    for await (const piece of pieces) count += [...piece].length;
    return count;
  };
  assert.deepEqual(await Promise.all(lists.map(read)), [1500, 1500]);
  assert.equal(await read(await third), 1501);
});

test('postgres: lists of large tasks are complete, on pages of any size', { skip }, async (t) => {
  const store = createPostgresTaskStore(await openNew(t), now);
  const lengths = [10, 3e6, 10, 2e6, 5e6, 10];
  for (const length of lengths) await store.create({ Title: 'a', Description: 'd'.repeat(length) });
  for (const limit of [3, 6, 7, Number.MAX_SAFE_INTEGER]) {
    const list = await store.list({}, limit, limit === 3 ? 1 : 0);
    const found: number[] = [];
    for await (const piece of list.pieces) for (const { Description } of piece) found.push(Description.length);
    assert.deepEqual(found, limit === 3 ? lengths.slice(1, 4) : lengths);
    assert.deepEqual([list.total, list.count], [6, found.length]);
  }
});

test('postgres: a refused change does not cause the refusal of other changes in its batch', {
  skip,
}, async (t) => {
  const url = await createEmptyDatabase();
  const store = createPostgresTaskStore(open(t, url), now);
  assert.equal((await store.list({}, 1)).total, 0);
  await runSql(url, `ALTER TABLE signalbox.task ADD CHECK (body NOT LIKE '%refused%')`);
  let lastId = 0;
  const titles = fc.array(fc.constantFrom('a', 'b', 'refused'), { minLength: 1, maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(titles, async (created) => {
      const results = await Promise.allSettled(created.map(async (Title) => store.create({ Title })));
      for (const [index, result] of results.entries()) {
        if (created[index] === 'refused') {
          assert.ok(result.status === 'rejected' && result.reason instanceof ValueRefusal);
        } else {
          assert.ok(result.status === 'fulfilled', created.join());
          lastId += 1;
          assert.equal(result.value.id, lastId);
        }
      }
      assert.equal((await store.list({}, 0)).total, lastId);
    }),
    { numRuns: 30 },
  );
});
