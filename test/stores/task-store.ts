import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { priorities, statuses, type Task } from '../../src/features/tasks/schema.ts';
import type { StoredTask, TaskFilter, TaskStore } from '../../src/features/tasks/store.ts';
import { toLocalTimestamp } from '../../src/lib/local-time.ts';
import type { Awaitable, List } from '../../src/storage/list.ts';
import { amount } from '../support/long.ts';
import { createRandom, type Random } from '../support/random.ts';
import { createTaskModel, type TaskModel } from '../support/task-model.ts';

/** Creates an empty store for a test. `clock` provides its time. */
export type CreateTaskStore = (t: TestContext, clock: () => Date) => Awaitable<TaskStore>;

interface Run {
  operations: number;
  /** Approximate number of tasks. Once it is reached, deletions balance creations. */
  size: number;
  /** Maximum length of descriptions. Must be large for lists of several pieces. */
  longest: number;
  /** Share of operations that list tasks. */
  listing: number;
}

/** Store, the model of the store, and lists that have not been read yet. */
interface Pair {
  random: Random;
  store: TaskStore;
  model: TaskModel;
  unread: { list: List<Task>; expected: unknown[] }[];
}

/** Creates strings of all kinds. One in fifty is `longest` characters long. */
const createText = ({ next, pick }: Random, longest: number): string =>
  pick(['x', 'ä', '"\\\n', '漢😀', '\u0000']) + 'y'.repeat(next() < 0.02 ? longest : 2);

/** Creates some or all fields of a task. */
const createFields = (random: Random, longest: number) => {
  const { maybe, pick } = random;
  const fields = {
    Title: createText(random, 0),
    Description: maybe(() => createText(random, longest)),
    Priority: maybe(() => pick(priorities)),
    Status: maybe(() => pick(statuses)),
  };
  return JSON.parse(JSON.stringify(fields)) as { Title: string };
};

/** Creates a filter, sometimes for a value that no task has. */
const createFilter = ({ maybe, pick }: Random) => ({
  status: maybe(() => pick([...statuses, 'Done'])),
  priority: maybe(() => pick([...priorities, 'low'])),
});

/** Parses a task's stored text. */
export const readTask = (stored: StoredTask | undefined): Task | undefined => stored && JSON.parse(stored.text);

const readList = async ({ pieces }: List<Task>) => {
  const tasks: unknown[] = [];
  for await (const piece of pieces) tasks.push(...piece);
  return tasks;
};

const parse = (text: string | undefined): unknown => text && JSON.parse(text);

const change = async ({ random, store, model }: Pair, { size, longest }: Run): Promise<void> => {
  const choice = random.next() * (model.size() < size ? 0.8 : 1);
  if (choice < 0.3) {
    const fields = createFields(random, longest);
    if (choice < 0.28) assert.deepEqual(readTask(await store.create(fields)), parse(model.create(fields)));
    else assert.equal((await store.restore([fields])) === undefined, model.restore(fields));
    return;
  }
  const id = random.next() < 0.8 ? model.idAt(random.below(model.size())) : random.below(model.lastId() + 99);
  const { Title, ...others } = createFields(random, longest);
  if (choice < 0.55) {
    const changes = random.next() < 0.5 ? others : { Title };
    assert.deepEqual(readTask(await store.update(id, changes)), parse(model.update(id, changes)));
  } else if (choice < 0.6) assert.deepEqual(readTask(await store.find(id)), parse(model.find(id)));
  else assert.equal(await store.remove(id), model.remove(id));
};

/** Takes a list. Some lists are read later, and must not show changes made in between. */
const takeList = async (pair: Pair): Promise<void> => {
  const { random, store, model, unread } = pair;
  const filter = createFilter(random);
  const limit = random.pick([0, 1, 50, Number.MAX_SAFE_INTEGER]);
  const list = await store.list(filter, limit);
  const { text, ...counts } = model.list(filter, limit);
  assert.deepEqual({ total: list.total, count: list.count }, counts);
  unread.push({ list, expected: JSON.parse(`[${text}]`) });
  await compareSearch(pair, filter);
  if (random.next() < 0.5 || unread.length > 3) await readOldest(pair);
};

/** Asserts that searches in store and model find the same tasks, newest first and page by page. */
const compareSearch = async ({ random, store, model }: Pair, filter: TaskFilter): Promise<void> => {
  const q = random.pick([undefined, 'X', 'Ä', '"\\', '漢', '\u0000', 'nowhere']);
  const matches = (JSON.parse(`[${model.list(filter, Number.MAX_SAFE_INTEGER).text}]`) as Task[])
    .filter(({ Title }) => !q || Title.toLowerCase().includes(q.toLowerCase()))
    .toReversed();
  const found: unknown[] = [];
  let before: number | undefined;
  do {
    const page = await store.search({ ...filter, q, before, limit: random.pick([20, 100, 1000]) });
    assert.equal(page.total, matches.length);
    found.push(...(await readList(page)));
    before = page.next;
  } while (before !== undefined);
  assert.deepEqual(found, matches);
};

const readOldest = async ({ unread }: Pair): Promise<void> => {
  const { list, expected } = unread.shift() ?? {};
  if (list) assert.deepEqual(await readList(list), expected);
};

/** Tests that every task store must pass. `scale` changes the length of the runs. */
export const testTaskStore = (name: string, createStore: CreateTaskStore, scale = 1): void => {
  const runs: Run[] = [
    { operations: amount(10_000, 100_000) * scale, size: 60, longest: 10, listing: 0.02 },
    { operations: amount(4000, 20_000) * scale, size: 1200, longest: 10, listing: 0.01 },
    { operations: amount(1000, 3000) * scale, size: 200, longest: 60_000, listing: 0.03 },
  ];
  for (const run of runs) {
    test(`${name}: ${run.operations} operations on about ${run.size} tasks match a plain list`, async (t) => {
      let second = 0;
      const clock = () => new Date(2026, 0, 31, 9, 30, second);
      const store = await createStore(t, clock);
      const model = createTaskModel(() => toLocalTimestamp(clock()));
      const pair: Pair = { random: createRandom(), store, model, unread: [] };
      for (; second < run.operations; second += 1) {
        if (pair.random.next() < run.listing) await takeList(pair);
        else await change(pair, run);
      }
      while (pair.unread.length > 0) await readOldest(pair);
    });
  }

  const now = () => new Date(2026, 0, 31, 9, 30);

  test(`${name}: tasks that are created simultaneously get ids without gaps, in order of creation`, async (t) => {
    const store = await createStore(t, now);
    const created = await Promise.all(Array.from({ length: 100 }, (_, index) => store.create({ Title: `${index}` })));
    assert.deepEqual(
      created.map((stored) => [stored.id, readTask(stored)?.Id, readTask(stored)?.Title]),
      Array.from({ length: 100 }, (_, index) => [index + 1, index + 1, `${index}`]),
    );
  });

  test(`${name}: texts are returned unchanged`, async (t) => {
    const store = await createStore(t, now);
    const Description = `\u0000 \ud800 "\\ 漢😀 ${'x'.repeat(1_000_000)}`;
    await store.create({ Title: '\u0000', Description });
    const found = readTask(await store.find(1));
    assert.deepEqual([found?.Title, found?.Description], ['\u0000', Description]);
  });

  test(`${name}: ids that no task can have are not found`, async (t) => {
    const store = await createStore(t, now);
    await store.create({ Title: 'x' });
    for (const id of [0, 2, 2 ** 40, Number.MAX_SAFE_INTEGER]) {
      assert.equal(await store.find(id), undefined);
      assert.equal(await store.update(id, { Title: 'y' }), undefined);
      assert.equal(await store.remove(id), undefined);
    }
  });

  test(`${name}: a working store is ready`, async (t) => {
    const store = await createStore(t, now);
    assert.equal(await store.isReady(), true);
  });
};
