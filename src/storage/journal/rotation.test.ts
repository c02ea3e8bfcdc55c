import assert from 'node:assert/strict';
import {
  appendFile,
  mkdir,
  readdir,
  readFile,
  rename,
  rmdir,
  symlink,
  truncate,
  unlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createFolder } from '../../../test/support/folder.ts';
import { appendNumbers, listNumbers, openTestJournal } from '../../../test/support/journal.ts';
import { waitUntil } from '../../../test/support/wait.ts';

const listSegments = async (directory: string): Promise<string[]> =>
  (await readdir(directory)).filter((name) => name.endsWith('.jsonl')).sort();

/** Appends records one at a time, so that each record forms a separate batch. */
const appendEach = async (journal: Parameters<typeof appendNumbers>[0], from: number, to: number) => {
  for (let n = from; n <= to; n += 1) {
    await appendNumbers(journal, n, n);
  }
};

test('a segment is closed before it grows past its size, and listings span segments', async (t) => {
  const directory = createFolder(t);
  const journal = await openTestJournal(t, directory, { segmentBytes: 200 });
  await appendEach(journal, 1, 9);
  assert.ok((await listSegments(directory)).length >= 4);
  for (const name of await listSegments(directory)) {
    assert.ok((await readFile(join(directory, name))).length <= 200);
  }
  assert.deepEqual(await listNumbers(journal), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
  assert.deepEqual(await listNumbers(journal, 4), [6, 7, 8, 9]);
  await journal.close();
  const next = await openTestJournal(t, directory, { segmentBytes: 200 });
  assert.equal((await next.append({ n: 10 })).seq, 10);
  assert.deepEqual(await listNumbers(next, 3), [8, 9, 10]);
});

test('the seq continues from a closed segment if the newest segment is empty, and starts at 1 after many lines without a seq', async (t) => {
  const directory = createFolder(t);
  const journal = await openTestJournal(t, directory);
  await appendNumbers(journal, 1, 3);
  await journal.close();
  await rename(journal.file, join(directory, 'log.00000007.jsonl'));
  const next = await openTestJournal(t, directory);
  assert.equal((await next.append({ n: 4 })).seq, 4);
  await next.close();
  await appendFile(next.file, '{"n":"by hand"}\n'.repeat(300_000));
  const last = await openTestJournal(t, directory);
  assert.equal((await last.append({ n: 5 })).seq, 1);
});

for (const [limit, kept] of [
  [{ retainSegments: 2 }, [5, 6, 7]],
  [{ retainBytes: 350 }, [3, 4, 5, 6, 7]],
] as const) {
  test(`the limit ${Object.keys(limit)} keeps the newest segments`, async (t) => {
    const directory = createFolder(t);
    const journal = await openTestJournal(t, directory, { segmentBytes: 1, ...limit });
    await appendEach(journal, 1, 7);
    assert.deepEqual(await listNumbers(journal), kept);
    assert.equal((await listSegments(directory)).length, kept.length);
    assert.equal(journal.events.at(-1)?.type, 'segments-removed');
  });
}

test('retainDays removes older closed segments on startup', async (t) => {
  const directory = createFolder(t);
  const journal = await openTestJournal(t, directory, { segmentBytes: 1 });
  await appendEach(journal, 1, 4);
  await journal.close();
  const old = new Date(Date.now() - 49 * 60 * 60 * 1000);
  await utimes(join(directory, 'log.00000001.jsonl'), old, old);
  const next = await openTestJournal(t, directory, { retainDays: 2 });
  assert.deepEqual(await listNumbers(next), [2, 3, 4]);
});

test('a segment removed by hand is not listed, and one that cannot be read is an error', async (t) => {
  const directory = createFolder(t);
  const journal = await openTestJournal(t, directory, { segmentBytes: 1 });
  await appendEach(journal, 1, 4);
  await unlink(join(directory, 'log.00000002.jsonl'));
  assert.deepEqual(await listNumbers(journal), [1, 3, 4]);
  await mkdir(join(directory, 'log.00000002.jsonl'));
  await assert.rejects(listNumbers(journal), { code: 'EISDIR' });
  await unlink(join(directory, 'log.00000003.jsonl'));
  await symlink('log.00000003.jsonl', join(directory, 'log.00000003.jsonl'));
  await assert.rejects(listNumbers(journal), { code: 'ELOOP' });
});

for (const when of ['before the next record', 'when asked to'] as const) {
  test(`a renamed file is left alone, and a new one is opened ${when}`, async (t) => {
    const directory = createFolder(t);
    const journal = await openTestJournal(t, directory);
    await appendNumbers(journal, 1, 3);
    await rename(journal.file, join(directory, 'log.jsonl.1'));
    await (when === 'when asked to' ? journal.reopen() : journal.append({ n: 4 }));
    const expected = when === 'when asked to' ? [] : [4];
    assert.deepEqual(await listNumbers(journal), expected);
    assert.deepEqual(journal.events, [{ type: 'reopened' }]);
    assert.equal((await readFile(join(directory, 'log.jsonl.1'), 'utf8')).split('\n').length, 4);
  });
}

test('reopening an unchanged file changes nothing', async (t) => {
  const journal = await openTestJournal(t, createFolder(t));
  await appendNumbers(journal, 1, 3);
  await journal.reopen();
  assert.deepEqual(journal.events, []);
  assert.deepEqual(await listNumbers(journal), [1, 2, 3]);
});

test('a file that was removed, emptied, replaced or written to by others is opened again', async (t) => {
  const journal = await openTestJournal(t, createFolder(t));
  await appendNumbers(journal, 1, 3);
  await unlink(journal.file);
  await appendNumbers(journal, 4, 4);
  assert.deepEqual(await listNumbers(journal), [4]);
  await truncate(journal.file, 0);
  await appendNumbers(journal, 5, 5);
  assert.deepEqual(await listNumbers(journal), [5]);
  await appendFile(journal.file, '{"n":"by hand"}\n{"n":"to');
  await appendNumbers(journal, 6, 6);
  assert.deepEqual(await listNumbers(journal), [5, 'by hand', 6]);
  await writeFile(`${journal.file}.new`, '{"n":"other"}\n');
  await rename(`${journal.file}.new`, journal.file);
  assert.deepEqual((await journal.append({ n: 7 })).seq, 7);
  assert.deepEqual(await listNumbers(journal), ['other', 7]);
});

test('a record is written once, even if the file is emptied at any moment', async (t) => {
  const journal = await openTestJournal(t, createFolder(t));
  for (let turn = 0; turn < 100; turn += 1) {
    const last = turn * 6 + 5;
    const appended = appendEach(journal, turn * 6, last - 1);
    await truncate(journal.file, 0);
    await appended;
    await appendNumbers(journal, last, last);
    const numbers = await listNumbers(journal);
    assert.deepEqual(numbers, [...new Set(numbers)]);
    assert.equal(numbers.at(-1), last);
  }
});

test('records are refused while a folder has the name of the next closed segment', async (t) => {
  const directory = createFolder(t);
  const journal = await openTestJournal(t, directory, { segmentBytes: 1, retryMs: 5 });
  await mkdir(join(directory, 'log.00000001.jsonl'));
  await appendNumbers(journal, 1, 1);
  await assert.rejects(journal.append({ n: 2 }), { code: 'unavailable' });
  await waitUntil('a write fails', () => !journal.state().healthy);
  await rmdir(join(directory, 'log.00000001.jsonl'));
  await waitUntil('records are stored again', () => journal.state().healthy);
  await appendNumbers(journal, 3, 3);
  assert.deepEqual(await listNumbers(journal), [1, 3]);
});
