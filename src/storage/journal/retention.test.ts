import assert from 'node:assert/strict';
import { mkdir, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createFolder } from '../../../test/support/folder.ts';
import { createFileNames, removeOldSegments } from './files.ts';

const hour = 60 * 60;
const none = { retainSegments: 0, retainBytes: 0, retainDays: 0 };

/** Creates closed segments with the given sizes, and ages in hours, oldest first. */
const createSegments = async (t: TestContext, segments: [bytes: number, hours: number][]) => {
  const names = createFileNames(createFolder(t), 'log');
  for (const [index, [bytes, hours]] of segments.entries()) {
    const path = names.closed(index + 1);
    await writeFile(path, 'x'.repeat(bytes));
    const at = Date.now() / 1000 - hours * hour;
    await utimes(path, at, at);
  }
  const list = async () => (await readdir(names.directory)).sort();
  return { names, list };
};

test('without limits every segment is kept', async (t) => {
  const { names, list } = await createSegments(t, [
    [10, 9999],
    [10, 1],
  ]);
  assert.deepEqual(await removeOldSegments(names, none), []);
  assert.equal((await list()).length, 2);
});

test('retainSegments deletes the oldest segments and returns them in order', async (t) => {
  const { names, list } = await createSegments(t, Array(4).fill([1, 0]));
  const removed = await removeOldSegments(names, { ...none, retainSegments: 2 });
  assert.deepEqual(removed, [names.closed(1), names.closed(2)]);
  assert.deepEqual(await list(), ['log.00000003.jsonl', 'log.00000004.jsonl']);
});

test('retainBytes deletes the oldest segments', async (t) => {
  const { names, list } = await createSegments(t, Array(4).fill([10, 0]));
  assert.deepEqual(await removeOldSegments(names, { ...none, retainBytes: 40 }), []);
  assert.equal((await removeOldSegments(names, { ...none, retainBytes: 39 })).length, 1);
  assert.equal((await removeOldSegments(names, { ...none, retainBytes: 10 })).length, 2);
  assert.deepEqual(await list(), ['log.00000004.jsonl']);
});

test('retainDays deletes segments whose last write is older', async (t) => {
  const { names, list } = await createSegments(t, [
    [1, 25],
    [1, 23],
  ]);
  assert.deepEqual(await removeOldSegments(names, { ...none, retainDays: 2 }), []);
  assert.deepEqual(await removeOldSegments(names, { ...none, retainDays: 1 }), [names.closed(1)]);
  assert.deepEqual(await list(), ['log.00000002.jsonl']);
});

test('every retention limit applies, and other files are kept', async (t) => {
  const { names, list } = await createSegments(t, [
    [1, 0],
    [90, 0],
    [1, 49],
    [1, 0],
  ]);
  const others = ['log.jsonl', 'log.1.jsonl', 'log.00000001.torn', 'other.00000001.jsonl', 'log.0000000x.jsonl'];
  for (const name of others) await writeFile(join(names.directory, name), 'x'.repeat(99));
  await removeOldSegments(names, { retainSegments: 3, retainBytes: 50, retainDays: 2 });
  assert.deepEqual(await list(), ['log.00000004.jsonl', ...others].sort());
});

test('a segment that cannot be deleted is left out of the result, and the others are deleted', async (t) => {
  const { names, list } = await createSegments(t, Array(3).fill([1, 49]));
  await rm(names.closed(2));
  await mkdir(names.closed(2));
  await utimes(names.closed(2), 0, 0);
  const removed = await removeOldSegments({ ...names, listClosed: async () => [1, 2, 3] }, { ...none, retainDays: 1 });
  assert.deepEqual(removed, [names.closed(1), names.closed(3)]);
  assert.deepEqual(await list(), ['log.00000002.jsonl']);
});

test('a segment that another program deletes meanwhile does not stop retention', async (t) => {
  const { names, list } = await createSegments(t, Array(3).fill([1, 49]));
  await rm(names.closed(2));
  const removed = await removeOldSegments({ ...names, listClosed: async () => [1, 2, 3] }, { ...none, retainDays: 1 });
  assert.deepEqual(removed, [names.closed(1), names.closed(3)]);
  assert.deepEqual(await list(), []);
});
