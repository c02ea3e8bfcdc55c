import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom, type Random } from '../../../test/support/random.ts';
import { createTaskModel, type TaskModel } from '../../../test/support/task-model.ts';
import { toLocalTimestamp } from '../../http/response/timestamp.ts';
import { createMemoryTaskStore } from './memory-store.ts';
import { priorities, statuses } from './schema.ts';
import type { TaskSelection, TaskStore } from './store.ts';

interface Run {
  operations: number;
  /** How many tasks there are about: from then on as many go as come. */
  size: number;
  /** Characters of the longest descriptions: lists of several pieces need long ones. */
  longest: number;
  /** The share of operations that list. */
  listing: number;
}

/** A store, what it should do, and lists that were taken and are still to be read. */
interface Pair {
  random: Random;
  store: TaskStore;
  model: TaskModel;
  untold: { list: TaskSelection; expected: string }[];
}

const runs: Run[] = [
  { operations: 250_000, size: 60, longest: 10, listing: 0.05 },
  { operations: 60_000, size: 1200, longest: 10, listing: 0.02 },
  { operations: 10_000, size: 200, longest: 60_000, listing: 0.05 },
];

for (const run of runs) {
  test(`${run.operations} operations on about ${run.size} tasks do what a plain list would do`, () => {
    compare(createRandom(), run);
  });
}

/** Texts of all kinds; one in fifty is `longest` characters long. */
const createText = ({ next, pick }: Random, longest: number): string =>
  pick(['x', 'ä', '"\\\n', '漢😀', '\u0000']) + 'y'.repeat(next() < 0.02 ? longest : 2);

/** The fields of a task, some of them or all. */
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

/** A filter, now and then for a value that no task has. */
const createFilter = ({ maybe, pick }: Random) => ({
  status: maybe(() => pick([...statuses, 'Done'])),
  priority: maybe(() => pick([...priorities, 'low'])),
});

const compare = (random: Random, run: Run): void => {
  let second = 0;
  const clock = () => new Date(2026, 0, 31, 9, 30, second);
  const store = createMemoryTaskStore(clock);
  const pair = { random, store, model: createTaskModel(() => toLocalTimestamp(clock())), untold: [] };
  for (; second < run.operations; second += 1) {
    if (random.next() < run.listing) list(pair);
    else change(pair, run);
  }
  while (pair.untold.length > 0) readOldest(pair);
};

const change = ({ random, store, model }: Pair, { size, longest }: Run): void => {
  const choice = random.next() * (model.size() < size ? 0.8 : 1);
  if (choice < 0.3) {
    const fields = createFields(random, longest);
    if (choice < 0.28) assert.equal(store.create(fields), model.create(fields));
    else assert.equal(store.restore(fields), model.restore(fields));
    return;
  }
  const id = random.next() < 0.8 ? model.idAt(random.below(model.size())) : random.below(model.lastId() + 99);
  const { Title, ...others } = createFields(random, longest);
  if (choice < 0.55) {
    const changes = random.next() < 0.5 ? others : { Title };
    assert.equal(store.update(id, changes), model.update(id, changes));
  } else if (choice < 0.6) assert.equal(store.find(id), model.find(id));
  else assert.equal(store.remove(id), model.remove(id));
};

/** Takes a list, and reads it later if it is long: what is changed meanwhile must not show. */
const list = (pair: Pair): void => {
  const { random, store, model, untold } = pair;
  const filter = createFilter(random);
  const limit = random.pick([0, 1, 50, Number.MAX_SAFE_INTEGER]);
  const taken = store.list(filter, limit);
  const { text, ...counts } = model.list(filter, limit);
  assert.deepEqual({ total: taken.total, count: taken.count }, counts);
  assert.equal(taken.isAscii, Buffer.byteLength(taken.first) === taken.first.length);
  untold.push({ list: taken, expected: text });
  if (taken.rest === undefined || untold.length > 3) readOldest(pair);
};

const readOldest = ({ untold }: Pair): void => {
  const { list, expected } = untold.shift() ?? {};
  if (list) assert.equal([list.first, ...(list.rest ?? [])].join(''), expected);
};
