import assert from 'node:assert/strict';
import { appendFile, readdir, readFile, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createFolder } from '../../../../test/support/folder.ts';
import { appendNumbers, openTestJournal } from '../../../../test/support/journal.ts';
import type { Journal } from '../journal.ts';

const readNumbers = async (journal: Journal, seq: number): Promise<unknown[]> => {
  const numbers: unknown[] = [];
  for await (const records of journal.readAfter(seq)) {
    assert.ok(records.length > 0);
    numbers.push(...records.map(({ n }) => n));
  }
  return numbers;
};

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, index) => from + index);

test('records after a seq are read oldest first, over all files', async (t) => {
  const journal = await openTestJournal(t, createFolder(t), { segmentBytes: 2000 });
  assert.deepEqual(await readNumbers(journal, 0), []);
  for (let n = 1; n <= 100; n += 1) await appendNumbers(journal, n, n);
  for (const seq of [0, 1, 20, 21, 50, 99]) assert.deepEqual(await readNumbers(journal, seq), range(seq + 1, 100));
  for (const seq of [100, 101, 1e9]) assert.deepEqual(await readNumbers(journal, seq), []);
  await appendNumbers(journal, 101, 105);
  assert.deepEqual(await readNumbers(journal, 100), range(101, 105));
});

test('foreign, damaged and long lines are skipped', async (t) => {
  const directory = createFolder(t);
  const journal = await openTestJournal(t, directory, { maxLineBytes: 200_000 });
  await appendNumbers(journal, 1, 3);
  await journal.append({ n: 4, text: 'x'.repeat(190_000) });
  await journal.close();
  await appendFile(journal.file, `{"n":"by hand"}\n\n{"seq":9}\n${'y'.repeat(1_000_000)}\n`);
  const next = await openTestJournal(t, directory, { maxLineBytes: 200_000 });
  await appendNumbers(next, 5, 6);
  assert.deepEqual(await readNumbers(next, 0), range(1, 6));
  assert.deepEqual(await readNumbers(next, 4), [5, 6]);
  assert.equal(next.events.filter(({ type }) => type === 'damaged').length, 2);
  await next.close();
  const bytes = await readFile(journal.file);
  bytes.writeUInt8(bytes.readUInt8(3) ^ 1, 3);
  await writeFile(journal.file, bytes);
  assert.deepEqual(await readNumbers(await openTestJournal(t, directory), 0), range(2, 6));
});

test('a reader that stops early releases the file, and a reader whose file is deleted continues with the next file', async (t) => {
  const directory = createFolder(t);
  const journal = await openTestJournal(t, directory, { segmentBytes: 1 });
  for (let n = 1; n <= 5; n += 1) await appendNumbers(journal, n, n);
  const reader = journal.readAfter(0);
  assert.deepEqual(
    (await reader.next()).value?.map(({ n }: { n?: unknown }) => n),
    [1],
  );
  await unlink(join(directory, 'log.00000003.jsonl'));
  assert.deepEqual(
    (await reader.next()).value?.map(({ n }: { n?: unknown }) => n),
    [2],
  );
  assert.deepEqual(
    (await reader.next()).value?.map(({ n }: { n?: unknown }) => n),
    [4],
  );
  await reader.return(undefined);
  assert.deepEqual(await readNumbers(journal, 0), [1, 2, 4, 5]);
});

test('listeners are called for each write until they unsubscribe', async (t) => {
  const journal = await openTestJournal(t, createFolder(t));
  const reported: number[] = [];
  const leave = journal.onStored((seq) => reported.push(seq));
  await journal.append({ n: 1 });
  await journal.appendAll([{ n: 2 }, { n: 3 }]);
  assert.deepEqual(reported, [1, 3]);
  leave();
  await journal.append({ n: 4 });
  assert.deepEqual(reported, [1, 3]);
});

test('retention keeps unread records up to a size, and reports dropped records', async (t) => {
  const directory = createFolder(t);
  const journal = await openTestJournal(t, directory, { segmentBytes: 1, retainSegments: 1, awaitsHold: true });
  for (let n = 1; n <= 5; n += 1) await appendNumbers(journal, n, n);
  assert.deepEqual(await readNumbers(journal, 0), range(1, 5));
  let read = 2;
  const dropped: number[] = [];
  const segmentBytes = (await readFile(journal.file)).length;
  await journal.holdFrom(
    () => read,
    4 * segmentBytes,
    (seq) => dropped.push(seq),
  );
  assert.deepEqual(await readNumbers(journal, 0), [3, 4, 5]);
  for (let n = 6; n <= 8; n += 1) await appendNumbers(journal, n, n);
  assert.deepEqual(await readNumbers(journal, 0), [4, 5, 6, 7, 8]);
  assert.deepEqual(dropped, [3]);
  read = 8;
  await appendNumbers(journal, 9, 9);
  assert.deepEqual(await readNumbers(journal, 0), [8, 9]);
  assert.deepEqual(dropped, [3]);
  assert.equal((await readdir(directory)).filter((name) => name.endsWith('.jsonl')).length, 2);
});

test('a reader misses no record of a segment that is closed while it begins', async (t) => {
  const journal = await openTestJournal(t, createFolder(t), { segmentBytes: 1 });
  for (let n = 1; n <= 50; n += 1) await appendNumbers(journal, n, n);
  const reading = readNumbers(journal, 10);
  for (let n = 51; n <= 60; n += 1) await appendNumbers(journal, n, n);
  const numbers = await reading;
  assert.ok(numbers.length >= 40);
  assert.deepEqual(numbers, range(11, 10 + numbers.length));
});
