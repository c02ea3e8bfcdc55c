import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Batcher, type BatchLimits, type Waiting } from './batcher.ts';

type Batch = readonly Waiting<string, string>[];

const textOf = (batch: Batch): string => batch.map(({ item }) => item).join('');

/** Creates a batcher of strings. The size of a string is its length. `next` waits for a batch, and `end` commits it. */
const createTextBatcher = (limits: Partial<BatchLimits> = {}) => {
  const batches: { batch: Batch; end(error?: Error): void }[] = [];
  const commit = (batch: Batch): Promise<void> =>
    new Promise((resolve, reject) => {
      batches.push({ batch, end: (error) => (error ? reject(error) : resolve()) });
    });
  const batcher = new Batcher<string, string>(
    { maxCount: 100, maxSize: 100, batchSize: 100, gatherMs: 0, ...limits },
    commit,
  );
  const add = (item: string, count?: number): Promise<string> | undefined =>
    batcher.add(item, item.length, count)?.promise;
  const next = async () => {
    for (;;) {
      const first = batches.shift();
      if (first) return first;
      await setImmediate();
    }
  };
  return { batcher, add, next };
};

/** Begins a batch whose commit lasts until `end` is called. */
const occupy = async ({ add, next }: ReturnType<typeof createTextBatcher>) => {
  const added = add('');
  const { batch, end } = await next();
  batch[0]?.resolve('');
  await added;
  return end;
};

test('items that arrive during a commit form the next batch, in order of arrival', async () => {
  const texts = createTextBatcher();
  const first = texts.add('a');
  const { batch, end } = await texts.next();
  const others = [texts.add('b'), texts.add('c')];
  assert.equal(textOf(batch), 'a');
  assert.equal(texts.batcher.queued, 2);
  batch[0]?.resolve('A');
  end();
  assert.equal(await first, 'A');
  const last = await texts.next();
  assert.equal(textOf(last.batch), 'bc');
  assert.equal(texts.batcher.queued, 0);
  for (const waiting of last.batch) waiting.resolve(waiting.item.toUpperCase());
  last.end();
  assert.deepEqual(await Promise.all(others), ['B', 'C']);
  await texts.batcher.running;
  assert.equal(texts.batcher.running, undefined);
});

test('a batch has as many items as fit, and at least one', async () => {
  const texts = createTextBatcher({ batchSize: 3, batchCount: 2 });
  const end = await occupy(texts);
  for (const item of ['aa', 'bb', 'cccc', 'd', 'e', 'f']) texts.add(item)?.catch(() => undefined);
  end();
  const sizes: string[] = [];
  for (let left = 6; left > 0; ) {
    const { batch, end } = await texts.next();
    sizes.push(textOf(batch));
    left -= batch.length;
    end();
  }
  assert.deepEqual(sizes, ['aa', 'bb', 'cccc', 'de', 'f']);
});

test('items of a batch count until they are settled, and further items are refused beyond the maximum count', async () => {
  const texts = createTextBatcher({ maxCount: 2 });
  const end = await occupy(texts);
  void texts.add('a');
  void texts.add('b');
  assert.equal(texts.add('c'), undefined);
  end();
  const { batch } = await texts.next();
  assert.equal(texts.add('c'), undefined);
  batch[0]?.resolve('A');
  assert.equal(texts.batcher.count, 1);
  assert.notEqual(texts.add('c'), undefined);
  assert.equal(texts.add('d'), undefined);
});

test('an item larger than all limits is accepted if nothing else waits', async () => {
  const texts = createTextBatcher({ maxCount: 2, maxSize: 4 });
  const end = await occupy(texts);
  void texts.add('aaaaa', 3);
  assert.equal(texts.add('b'), undefined);
  end();
  (await texts.next()).batch[0]?.resolve('A');
  void texts.add('b');
  assert.equal(texts.add('aaa', 2), undefined);
  assert.equal(texts.add('bbbb'), undefined);
  assert.notEqual(texts.add('ccc'), undefined);
});

test('a failed batch rejects the items that it has not settled', async () => {
  const texts = createTextBatcher();
  const end = await occupy(texts);
  const added = ['a', 'b'].map((item) => texts.add(item));
  end();
  const { batch, end: endSecond } = await texts.next();
  batch[0]?.resolve('A');
  endSecond(new Error('no'));
  assert.equal(await added[0], 'A');
  await assert.rejects(added[1] as Promise<string>, { message: 'no' });
  assert.equal(texts.batcher.count, 0);
});

test('queued items are rejected together, and leave the queue', async () => {
  const texts = createTextBatcher();
  const first = texts.add('a');
  const { batch } = await texts.next();
  const others = [texts.add('b'), texts.add('c')];
  texts.batcher.rejectQueued(new Error('no'));
  assert.equal(texts.batcher.queued, 0);
  for (const other of others) await assert.rejects(other as Promise<string>, { message: 'no' });
  batch[0]?.resolve('A');
  assert.equal(await first, 'A');
});

test('an item that is settled while it waits is in no batch', async () => {
  const texts = createTextBatcher();
  const end = await occupy(texts);
  const late = texts.batcher.add('a', 1);
  void texts.add('b');
  late?.reject(new Error('late'));
  assert.equal(texts.batcher.count, 1);
  await assert.rejects(late?.promise as Promise<string>, { message: 'late' });
  end();
  assert.equal(textOf((await texts.next()).batch), 'b');
});

test('an empty batch is committed on request', async () => {
  const texts = createTextBatcher();
  texts.batcher.start();
  const { batch, end } = await texts.next();
  assert.equal(batch.length, 0);
  end();
  await texts.batcher.running;
});

test('a batch waits for as many items as the last batch had, for at most gatherMs', async () => {
  const texts = createTextBatcher({ gatherMs: 5 });
  for (let n = 0; n < 8; n += 1) void texts.add('a');
  const first = await texts.next();
  assert.equal(first.batch.length, 8);
  for (let n = 0; n < 7; n += 1) void texts.add('b');
  const begun = performance.now();
  first.end();
  assert.equal((await texts.next()).batch.length, 7);
  assert.ok(performance.now() - begun >= 5);
});

test('a few items do not wait for more', async () => {
  const texts = createTextBatcher({ gatherMs: 1000 });
  for (let n = 0; n < 7; n += 1) void texts.add('a');
  const first = await texts.next();
  void texts.add('b');
  const begun = performance.now();
  first.end();
  assert.equal((await texts.next()).batch.length, 1);
  assert.ok(performance.now() - begun < 500);
});
