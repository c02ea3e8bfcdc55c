import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TaskChange } from './decide.ts';
import { createTaskState } from './task-state.ts';
import { toTaskEntry } from './task-text.ts';

const put = (Id: number, Description: string, version: number) => ({
  put: toTaskEntry(
    { Id, Title: 'x', Description, Priority: 'Low', Status: 'Pending', CreatedAt: '2026-01-31T09:30:00' },
    version,
  ),
});

test('the growth of a change is the difference of the bytes, with two bytes for each character of a wide text', () => {
  const state = createTaskState(() => new Date());
  const changes: TaskChange[] = [
    { lastId: 7 },
    put(1, 'x'.repeat(1000), 1),
    put(2, '\u4e2d'.repeat(1000), 1),
    put(1, 'x'.repeat(10), 2),
    put(1, 'x'.repeat(10), 2),
    { removed: 2 },
    { removed: 2 },
    { removed: 1 },
  ];
  const grown = changes.map((change) => {
    const before = state.bytes;
    const growth = state.growthOf(change);
    state.apply(change);
    assert.equal(state.bytes - before, growth);
    return growth;
  });
  const [, first = 0, second = 0, shrunk, same, removed = 0, again] = grown;
  assert.ok(first > 1100 && first < 1500, `${first}`);
  assert.ok(second > 2200 && second < 2700, `${second}`);
  assert.deepEqual([shrunk, same, removed, again], [-990, 0, 0 - second, 0]);
  assert.equal(state.bytes, 0);
});

test('the changes that restore a state have each task as it was stored', () => {
  const state = createTaskState(() => new Date());
  const puts = [
    put(3, '","Status":"Completed","Priority":"High"', 1),
    put(4, '\\", \\u0022 {"Id":7}', 9),
    {
      put: toTaskEntry(
        { ...JSON.parse(put(5, 'x', 1).put.text), Status: 'Cancelled', UpdatedAt: '2026-01-31T09:30:00' },
        2,
      ),
    },
  ];
  for (const change of puts) state.apply(change);
  assert.deepEqual([...state.changes()].flat(), [{ lastId: 5 }, ...puts]);
});
