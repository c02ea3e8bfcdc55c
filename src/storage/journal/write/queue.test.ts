import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JournalError } from '../errors.ts';
import { lineEndBytes } from '../format/line.ts';
import { Queue } from './queue.ts';

/** Bytes of a line whose beginning has one character. */
const lineBytes = 1 + lineEndBytes;
const full = { code: 'queue-full', message: 'too many records wait for the disk' };
const idsOf = (taken: { id: string }[]): string[] => taken.map(({ id }) => id);

test('records are taken in order of arrival with their ids and line starts', async () => {
  const queue = new Queue(10, 1000);
  const added = ['a', 'b'].map((id) => queue.add(id, `${id}\u00e9`));
  assert.equal(queue.waiting, 2);
  const taken = queue.take(1000);
  assert.deepEqual(
    taken.map(({ id, start, bytes }) => ({ id, start, bytes })),
    ['a', 'b'].map((id) => ({ id, start: `${id}\u00e9`, bytes: 3 + lineEndBytes })),
  );
  assert.equal(queue.waiting, 0);
  assert.deepEqual(queue.take(1000), []);
  taken.forEach(({ id, resolve }, index) => void resolve({ id, seq: index }));
  assert.deepEqual(await Promise.all(added), [
    { id: 'a', seq: 0 },
    { id: 'b', seq: 1 },
  ]);
});

test('as many records are taken as fit together, and at least one', async () => {
  const queue = new Queue(10, 10_000);
  for (const id of ['a', 'b', 'c', 'd']) void queue.add(id, 'x');
  assert.deepEqual(idsOf(queue.take(2 * lineBytes)), ['a', 'b']);
  assert.deepEqual(idsOf(queue.take(2 * lineBytes - 1)), ['c']);
  assert.deepEqual(idsOf(queue.take(1)), ['d']);
});

test('records beyond the maximum count are refused, and taken ones count until they are settled', async () => {
  const queue = new Queue(2, 10_000);
  const first = queue.add('a', 'x');
  const second = queue.add('b', 'x');
  await assert.rejects(queue.add('c', 'x'), full);
  const [a, b] = queue.take(10_000);
  await assert.rejects(queue.add('c', 'x'), full);
  a?.resolve({ id: 'a', seq: 1 });
  await first;
  b?.reject(new JournalError('unavailable', 'no'));
  await assert.rejects(second, { code: 'unavailable' });
  void queue.add('c', 'x');
  void queue.add('d', 'x');
  await assert.rejects(queue.add('e', 'x'), full);
});

test('records beyond the maximum bytes are refused', async () => {
  const queue = new Queue(100, 2 * lineBytes);
  const first = queue.add('a', 'x');
  await assert.rejects(queue.add('b', 'xx'), full);
  void queue.add('c', 'x');
  await assert.rejects(queue.add('d', ''), full);
  queue.take(1)[0]?.resolve({ id: 'a', seq: 1 });
  await first;
  void queue.add('e', 'x');
  assert.deepEqual(idsOf(queue.take(10_000)), ['c', 'e']);
});

test('all waiting records are rejected together, and taken ones are not affected', async () => {
  const queue = new Queue(10, 10_000);
  const taken = queue.add('a', 'x');
  const [a] = queue.take(1);
  const waiting = [queue.add('b', 'x'), queue.add('c', 'x')];
  queue.rejectAll(new JournalError('unavailable', 'no'));
  assert.equal(queue.waiting, 0);
  for (const one of waiting) await assert.rejects(one, { code: 'unavailable', message: 'no' });
  a?.resolve({ id: 'a', seq: 1 });
  assert.deepEqual(await taken, { id: 'a', seq: 1 });
});
