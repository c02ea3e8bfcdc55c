import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { JournalError } from './errors.ts';
import { lineEndBytes } from './line.ts';
import { type JournalOptions, withDefaults } from './options.ts';
import { RecentRecords } from './recent.ts';
import type { SegmentStore } from './segment-store.ts';
import { type Pending, Queue, Writer } from './writer.ts';

const hourMs = 60 * 60 * 1000;
const nothing = async (): Promise<void> => undefined;

/** A writer over a store whose commits fail as long as `disk.failure` is set. */
const createWriter = (t: TestContext, options: Partial<JournalOptions> = {}) => {
  const disk: { failure?: Error | undefined } = {};
  const commit = async (): Promise<void> => {
    if (disk.failure) throw disk.failure;
  };
  const events: string[] = [];
  const store: Partial<SegmentStore> = {
    commit,
    refresh: nothing,
    startSegment: nothing,
    probe: nothing,
    applyRetention: async () => void events.push('retention'),
    close: nothing,
    recent: new RecentRecords(0),
  };
  const report = ({ type }: { type: string }): void => void events.push(type);
  const settings = withDefaults({ directory: 'none', name: 'log', report, ...options });
  const writer = new Writer(store as SegmentStore, settings, nothing, 0);
  t.after(() => writer.close());
  return { writer, disk, events };
};

const noSpace = Object.assign(new Error('no space'), { code: 'ENOSPC' });

test('a failure is reported once until a record is stored again', async (t) => {
  const { writer, disk, events } = createWriter(t);
  disk.failure = noSpace;
  for (let n = 0; n < 3; n += 1) {
    await assert.rejects(writer.append(['{"id":"id"'], Number), { code: 'unavailable' });
  }
  assert.deepEqual(events, ['failed']);
  disk.failure = undefined;
  await writer.append(['{"id":"id"'], Number);
  await writer.append(['{"id":"id"'], Number);
  assert.deepEqual(events, ['failed', 'recovered']);
  disk.failure = noSpace;
  await assert.rejects(writer.append(['{"id":"id"'], Number), { code: 'unavailable' });
  assert.deepEqual(events, ['failed', 'recovered', 'failed']);
});

test('with retainDays the writer checks ages every hour until it is closed', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { writer, events } = createWriter(t, { retainDays: 1 });
  t.mock.timers.tick(2 * hourMs);
  await writer.reopen();
  assert.deepEqual(events, ['retention', 'retention']);
  const closing = writer.close();
  t.mock.timers.tick(hourMs);
  await closing;
  await writer.reopen();
  assert.equal(events.length, 2);
});

test('without retainDays the writer sets no timer', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { writer, events } = createWriter(t, { retainSegments: 1 });
  t.mock.timers.tick(9 * hourMs);
  await writer.reopen();
  assert.deepEqual(events, []);
});

/** Bytes of a line whose beginning has one character. */
const lineBytes = 1 + lineEndBytes;
const full = { code: 'queue-full', message: 'too many records wait for the disk' };
const add = (queue: Queue, ...starts: string[]): Promise<string> => queue.add(starts, (seq) => `${starts} ${seq}`);
const startsOf = (taken: Pending[]): string[] => taken.flatMap(({ starts }) => starts);

test('records are taken in order of arrival and settled with what is made of their first seq', async () => {
  const queue = new Queue(10, 1000);
  const added = [add(queue, 'a\u00e9'), add(queue, 'b', 'c')];
  assert.equal(queue.waiting, 2);
  const taken = queue.take(1000);
  assert.deepEqual(
    taken.map(({ starts, bytes }) => ({ starts, bytes })),
    [
      { starts: ['a\u00e9'], bytes: 3 + lineEndBytes },
      { starts: ['b', 'c'], bytes: 2 * lineBytes },
    ],
  );
  assert.equal(queue.waiting, 0);
  assert.deepEqual(queue.take(1000), []);
  for (const [index, { resolve }] of taken.entries()) resolve(7 + index);
  assert.deepEqual(await Promise.all(added), ['a\u00e9 7', 'b,c 8']);
});

test('as many records are taken as fit together, and at least one', async () => {
  const queue = new Queue(10, 10_000);
  for (const start of ['a', 'b', 'c', 'd']) void add(queue, start);
  assert.deepEqual(startsOf(queue.take(2 * lineBytes)), ['a', 'b']);
  assert.deepEqual(startsOf(queue.take(2 * lineBytes - 1)), ['c']);
  assert.deepEqual(startsOf(queue.take(1)), ['d']);
});

test('a group is never divided', async () => {
  const queue = new Queue(10, 10_000);
  void add(queue, 'a');
  void add(queue, 'b', 'c');
  assert.deepEqual(startsOf(queue.take(2 * lineBytes)), ['a']);
  assert.deepEqual(startsOf(queue.take(1)), ['b', 'c']);
});

test('a group larger than the maximum count is taken if nothing else waits', async () => {
  const queue = new Queue(2, 10_000);
  void add(queue, 'a', 'b', 'c');
  await assert.rejects(add(queue, 'd'), full);
  queue.take(1)[0]?.resolve(1);
  void add(queue, 'd');
  await assert.rejects(add(queue, 'a', 'b', 'c'), full);
});

test('records beyond the maximum count are refused, and taken ones count until they are settled', async () => {
  const queue = new Queue(2, 10_000);
  const first = add(queue, 'a');
  const second = add(queue, 'b');
  await assert.rejects(add(queue, 'c'), full);
  const [a, b] = queue.take(10_000);
  await assert.rejects(add(queue, 'c'), full);
  a?.resolve(1);
  await first;
  b?.reject(new JournalError('unavailable', 'no'));
  await assert.rejects(second, { code: 'unavailable' });
  void add(queue, 'c');
  void add(queue, 'd');
  await assert.rejects(add(queue, 'e'), full);
});

test('records beyond the maximum bytes are refused', async () => {
  const queue = new Queue(100, 2 * lineBytes);
  const first = add(queue, 'a');
  await assert.rejects(add(queue, 'bb'), full);
  void add(queue, 'c');
  await assert.rejects(add(queue, ''), full);
  queue.take(1)[0]?.resolve(1);
  await first;
  void add(queue, 'e');
  assert.deepEqual(startsOf(queue.take(10_000)), ['c', 'e']);
});

test('all waiting records are rejected together, and taken ones are not affected', async () => {
  const queue = new Queue(10, 10_000);
  const taken = add(queue, 'a');
  const [a] = queue.take(1);
  const waiting = [add(queue, 'b'), add(queue, 'c')];
  queue.rejectAll(new JournalError('unavailable', 'no'));
  assert.equal(queue.waiting, 0);
  for (const one of waiting) await assert.rejects(one, { code: 'unavailable', message: 'no' });
  a?.resolve(1);
  assert.equal(await taken, 'a 1');
});
