import assert from 'node:assert/strict';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { test } from 'node:test';
import { createFolder } from '../../../test/support/folder.ts';
import { appendNumbers, listNumbers, openTestJournal } from '../../../test/support/journal.ts';
import { waitUntil } from '../../../test/support/wait.ts';

test('records are refused while the file cannot be opened, and the journal recovers by itself', async (t) => {
  const journal = await openTestJournal(t, createFolder(t), { retryMs: 5 });
  await appendNumbers(journal, 1, 3);
  await rename(journal.file, `${journal.file}.away`);
  await mkdir(journal.file);
  await assert.rejects(journal.append({ n: 'lost' }), { code: 'unavailable' });
  await assert.rejects(journal.append({ n: 'lost too' }), { code: 'unavailable', message: /at the moment$/ });
  assert.equal(journal.state().healthy, false);
  assert.match(String(journal.state().failure), /not a regular file/);
  assert.deepEqual(await listNumbers(journal), [1, 2, 3]);
  await rm(journal.file, { recursive: true });
  await waitUntil('records are stored again', () => journal.state().healthy);
  await appendNumbers(journal, 4, 4);
  assert.deepEqual(await listNumbers(journal), [4]);
  assert.deepEqual(
    journal.events.map(({ type }) => type),
    ['failed', 'recovered'],
  );
});

test('after a failure reopen retries at once, and close still works', async (t) => {
  const journal = await openTestJournal(t, createFolder(t), { retryMs: 1_000_000 });
  await rename(journal.file, `${journal.file}.away`);
  await mkdir(journal.file);
  await assert.rejects(journal.append({ n: 1 }), { code: 'unavailable' });
  await journal.reopen();
  assert.equal(journal.state().healthy, false);
  await rm(journal.file, { recursive: true });
  await journal.reopen();
  await journal.append({ n: 2 });
  assert.deepEqual(await listNumbers(journal), [2]);
});

test('records are refused without writing while there is too little free space', async (t) => {
  const journal = await openTestJournal(t, createFolder(t), { minFreeBytes: Number.MAX_SAFE_INTEGER });
  await assert.rejects(journal.append({ n: 1 }), ({ code, cause, message }) => {
    assert.match(message, /at the moment \(not enough space is free on the disk\)$/);
    return code === 'unavailable' && cause.code === 'low-space';
  });
  await journal.reopen();
  assert.equal(journal.state().healthy, false);
  assert.equal(await readFile(journal.file, 'utf8'), '');
});

test('an error thrown by report does not stop the journal', async (t) => {
  const report = () => {
    throw new Error('nobody listens');
  };
  const journal = await openTestJournal(t, createFolder(t), { retryMs: 5, report });
  await rename(journal.file, `${journal.file}.away`);
  await mkdir(journal.file);
  await assert.rejects(journal.append({ n: 1 }), { code: 'unavailable' });
  await rm(journal.file, { recursive: true });
  await waitUntil('records are stored again', () => journal.state().healthy);
  await journal.append({ n: 2 });
  assert.deepEqual(await listNumbers(journal), [2]);
});
