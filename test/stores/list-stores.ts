import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { ItemStore } from '../../src/features/items/routes.ts';
import type { SimpleTaskStore } from '../../src/features/simple-tasks/routes.ts';
import type { Awaitable, List } from '../../src/storage/list.ts';

const readList = async <T extends object>({ pieces }: List<T>): Promise<T[]> => {
  const entries: T[] = [];
  for await (const piece of pieces) entries.push(...piece);
  return entries;
};

/** Tests that every item store must pass. */
export const testItemStore = (name: string, createStore: (t: TestContext) => Awaitable<ItemStore>): void => {
  test(`${name}: pages hold the items in order of creation, and total counts all items`, async (t) => {
    const store = await createStore(t);
    await Promise.all(Array.from({ length: 1203 }, (_, index) => store.add({ name: `${index}` })));
    const cases = [
      { page: 1, size: 20, first: 0, count: 20 },
      { page: 61, size: 20, first: 1200, count: 3 },
      { page: 62, size: 20, first: 0, count: 0 },
      { page: 1, size: 5000, first: 0, count: 1203 },
      { page: 1, size: 0, first: 0, count: 0 },
      { page: Number.MAX_SAFE_INTEGER, size: Number.MAX_SAFE_INTEGER, first: 0, count: 0 },
    ];
    for (const { page, size, first, count } of cases) {
      const list = await store.list(size * (page - 1), size);
      assert.deepEqual([list.total, list.count], [1203, count]);
      const names = (await readList(list)).map((item) => item.name);
      assert.deepEqual(
        names,
        Array.from({ length: count }, (_, index) => `${first + index}`),
      );
    }
  });

  test(`${name}: a thousand items get a thousand different ids, and given ids are not used again`, async (t) => {
    const store = await createStore(t);
    await store.restore([{ id: 5, name: 'x' }]);
    const added = await Promise.all(Array.from({ length: 999 }, () => store.add({ name: 'x' })));
    const ids = new Set(added.map(({ id }) => id));
    assert.deepEqual([ids.size, ids.has(5)], [999, false]);
    const extra = await store.add({ name: 'y' });
    assert.ok(extra.id >= 0 && extra.id < 1000);
  });

  test(`${name}: an item created with an id and status keeps them`, async (t) => {
    const store = await createStore(t);
    const item = { id: 7, name: 'x', status: 'archived' } as const;
    await store.restore([item]);
    assert.deepEqual(await readList(await store.list(0, 1)), [item]);
  });

  test(`${name}: a page does not show items that are added while it is read`, async (t) => {
    const store = await createStore(t);
    await store.add({ name: 'first' });
    const list = await store.list(0, 10);
    await store.add({ name: 'second' });
    assert.deepEqual([list.count, (await readList(list)).length], [1, 1]);
    assert.equal(await store.isReady(), true);
  });
};

/** Tests that every simple-task store must pass. */
export const testSimpleTaskStore = (
  name: string,
  createStore: (t: TestContext) => Awaitable<SimpleTaskStore>,
): void => {
  test(`${name}: ids are positions in the list, from 1`, async (t) => {
    const store = await createStore(t);
    const tasks = Array.from({ length: 1001 }, (_, index) => ({ title: `${index + 1}`, status: 'pending' }) as const);
    assert.deepEqual(
      await Promise.all(tasks.map((task) => store.add(task))),
      tasks.map((task, index) => ({ id: index + 1, ...task })),
    );
    for (const id of [1, 1001]) assert.equal((await store.find(id))?.title, `${id}`);
    for (const id of [0, 1002, 2 ** 40]) assert.equal(await store.find(id), undefined);
    const list = await store.list();
    await store.add({ title: 'later', status: 'done' });
    const titles = (await readList(list)).map(({ title }) => title);
    assert.deepEqual([list.total, list.count, titles.length, titles.at(-1)], [1001, 1001, 1001, '1001']);
    assert.equal(await store.isReady(), true);
  });
};
