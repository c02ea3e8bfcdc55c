import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freeMemory } from '../../cli/free-memory.ts';
import { createJoins } from './task-joins.ts';
import { readTexts } from './task-reading.ts';
import { createTaskTree } from './task-tree.ts';

test('what the tree has let go of is not kept for what was joined with it', async () => {
  const tree = createTaskTree(1);
  const joins = createJoins();
  tree.put(1, 'one', 1);
  const node = new WeakRef(tree.view().root as object);
  readTexts(tree.view(), { set: 0, next: 0, left: 1, space: 100, joins });
  // From here on the tree writes to copies.
  tree.freeze();
  tree.put(1, 'two', 1);
  await freeMemory();
  assert.equal(node.deref(), undefined);
});

test('past its room all that was kept is let go of, and kept anew', () => {
  const tree = createTaskTree(1);
  const joins = createJoins();
  const text = 'x'.repeat(10_000);
  const count = 500;
  for (let index = 0; index < count; index += 1) tree.put(32 * index, text, 1);
  const read = () => readTexts(tree.view(), { set: 0, next: 0, left: count, space: Infinity, joins }).text;
  const expected = Array(count).fill(text).join(',');
  for (let time = 0; time < 2; time += 1) assert.equal(read(), expected);
  const kept: boolean[] = [];
  const walk = (entry: unknown): void => {
    if (typeof entry !== 'object' || entry === null) return;
    const { joined, entries } = entry as { joined?: unknown; entries: unknown[] };
    if (entries.some((below) => typeof below === 'string')) kept.push(joined !== undefined);
    for (const below of entries) walk(below);
  };
  walk(tree.view().root);
  assert.equal(kept.length, count);
  assert.ok(kept.includes(true) && kept.includes(false));
});
