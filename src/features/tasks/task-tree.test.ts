import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../test/support/random.ts';
import { createTaskTree, readTexts, type TaskTree, type TreeView } from './task-tree.ts';

/** Ids that are close together, or anywhere up to the maximum in a seed file. */
const id = fc.oneof(fc.integer({ min: 1, max: 70 }), fc.integer({ min: 1, max: 1e12 }));
/** Set 0 and other sets. Set 0 contains all tasks. */
const memberships = fc.nat(7).map((sets) => (sets << 1) | 1);
const step = fc.record({ id, memberships, remove: fc.boolean(), freeze: fc.boolean() });
const setCount = 4;

type Texts = Map<number, { text: string; memberships: number }>;

const listIn = (texts: Texts, set: number): string[] =>
  [...texts]
    .filter(([, text]) => (text.memberships >>> set) & 1)
    .sort(([a], [b]) => a - b)
    .map(([, { text }]) => text);

/** Reads a set's tasks in pieces of `length` characters. */
const readAll = (view: TreeView, set: number, count: number, length: number): string[] => {
  const cursor = { set, next: 0, left: count };
  const texts: string[] = [];
  while (cursor.left > 0) texts.push(...readTexts(view, cursor, length));
  return texts;
};

/** Reads the tasks of a set from the highest id down. */
const readAllBack = (view: TreeView, set: number, length: number): string[] => {
  const cursor = { set, isBack: true, next: Number.MAX_SAFE_INTEGER, left: Number.MAX_SAFE_INTEGER };
  const texts: string[] = [];
  for (;;) {
    const more = readTexts(view, cursor, length);
    if (more.length === 0) return texts;
    texts.push(...more);
  }
};

const assertSame = (tree: TaskTree, texts: Texts): void => {
  for (let set = 0; set < setCount; set += 1) {
    const expected = listIn(texts, set);
    assert.equal(tree.count(set), expected.length);
    for (const length of [25, 250]) {
      assert.deepEqual(readAll(tree.view(), set, expected.length, length), expected);
      assert.deepEqual(readAllBack(tree.view(), set, length), expected.toReversed());
    }
  }
  for (const [id, { text }] of texts) assert.equal(tree.find(id), text);
};

test('a tree has all inserted texts in the order of their ids and backwards, also of ids far apart', () => {
  const property = fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
    const tree = createTaskTree(setCount);
    const texts: Texts = new Map();
    const frozen: { view: TreeView; expected: string[] }[] = [];
    steps.forEach(({ id, memberships, remove, freeze }, index) => {
      if (remove) assert.equal(tree.remove(id), texts.delete(id));
      else {
        tree.put(id, `text ${index}`, memberships);
        texts.set(id, { text: `text ${index}`, memberships });
      }
      if (freeze) assertSame(tree, texts);
      if (freeze) frozen.push({ view: tree.freeze(), expected: listIn(texts, 0) });
    });
    assertSame(tree, texts);
    for (const { view, expected } of frozen) {
      assert.deepEqual(readAll(view, 0, expected.length, 1), expected);
    }
  });
  fc.assert(property, { numRuns: 300 });
});

test('a tree finds nothing at ids beyond its range', () => {
  const tree = createTaskTree(1);
  assert.equal(tree.find(1), undefined);
  tree.put(1, 'one', 1);
  for (const absent of [0, 2, 33, 1025, 2 ** 40, Number.MAX_SAFE_INTEGER]) {
    assert.equal(tree.find(absent), undefined, String(absent));
    assert.equal(tree.remove(absent), false);
  }
});

test('an emptied tree can be filled again', () => {
  const tree = createTaskTree(1);
  for (const id of [1, 5000, 2 ** 41]) tree.put(id, 'x', 1);
  for (const id of [2 ** 41, 1, 5000]) assert.ok(tree.remove(id));
  assert.deepEqual([tree.count(0), tree.view().root], [0, undefined]);
  tree.put(7, 'seven', 1);
  assert.deepEqual(readAll(tree.view(), 0, 1, 1), ['seven']);
});

for (const last of [31, 1023, 2 ** 20 - 1]) {
  test(`reading ends after the last text at the last id of the tree, ${last}`, () => {
    const tree = createTaskTree(1);
    for (const id of [1, last]) tree.put(id, `text ${id}`, 1);
    const cursor = { set: 0, next: 0, left: Number.MAX_SAFE_INTEGER };
    assert.deepEqual(readTexts(tree.view(), cursor, 100), ['text 1', `text ${last}`]);
    assert.deepEqual(readTexts(tree.view(), cursor, 100), []);
  });
}
