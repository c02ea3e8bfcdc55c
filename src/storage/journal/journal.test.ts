import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createFolder } from '../../../test/support/folder.ts';
import { appendNumbers, listNumbers, listRecords, openTestJournal } from '../../../test/support/journal.ts';
import { openJournal } from './journal.ts';
import { lineEndBytes, toLineStart } from './line.ts';

test('records are listed oldest first, each with its id and a seq that increases by one', async (t) => {
  const journal = await openTestJournal(t, createFolder(t));
  const first = await journal.append({ text: 'one' });
  const second = await journal.append({ text: 'two' });
  assert.deepEqual([first.seq, second.seq], [1, 2]);
  assert.match(first.id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  const records = await listRecords(journal);
  assert.deepEqual(
    records.map(({ text, id, seq }) => ({ text, id, seq })),
    [
      { text: 'one', ...first },
      { text: 'two', ...second },
    ],
  );
});

test('a record of another log keeps its id and is found by this id', async (t) => {
  const journal = await openTestJournal(t, createFolder(t));
  const { id } = await journal.append({ text: 'own' });
  for (const given of [randomUUID(), id.replace(/^./, '1')]) {
    const appended = await journal.append({ text: given }, given);
    assert.equal(appended.id, given);
    assert.deepEqual((await journal.find(given))?.['text'], given);
  }
  assert.deepEqual(journal.state().lastSeq, 3);
});

test('a listing returns the last records, or the matching records among them', async (t) => {
  const journal = await openTestJournal(t, createFolder(t));
  assert.deepEqual(await listNumbers(journal), []);
  for (let n = 1; n <= 20; n += 1) {
    await journal.append({ n, kind: n % 2 === 0 ? 'even' : 'odd' });
  }
  assert.deepEqual(await listNumbers(journal, 3), [18, 19, 20]);
  assert.deepEqual(await listNumbers(journal, 0), []);
  assert.deepEqual(await listNumbers(journal, 5, { field: 'kind', value: 'even' }), [16, 18, 20]);
  assert.deepEqual(await listNumbers(journal, 5, { field: 'kind', value: 'neither' }), []);
});

test('records appended together keep their order', async (t) => {
  const journal = await openTestJournal(t, createFolder(t));
  await appendNumbers(journal, 1, 5000);
  const all = Array.from({ length: 5000 }, (_, index) => index + 1);
  assert.deepEqual(await listNumbers(journal), all);
});

test('directory and file are created for their owner only', async (t) => {
  const directory = join(createFolder(t), 'a', 'b');
  const journal = await openTestJournal(t, directory);
  assert.equal((await stat(directory)).mode & 0o777, 0o700);
  assert.equal((await stat(journal.file)).mode & 0o777, 0o600);
});

test('a journal continues the log of an earlier one', async (t) => {
  const directory = createFolder(t);
  const earlier = await openTestJournal(t, directory);
  await appendNumbers(earlier, 1, 3);
  await earlier.close();
  const journal = await openTestJournal(t, directory);
  assert.equal((await journal.append({ n: 4 })).seq, 4);
  assert.deepEqual(await listNumbers(journal), [1, 2, 3, 4]);
  const state = { healthy: true, failure: undefined, lastSeq: 4, assignedSeq: 4, waiting: 0 };
  assert.deepEqual(journal.state(), state);
});

test('the last seq is that of a stored record, not of a record on its way to the disk', async (t) => {
  const journal = await openTestJournal(t, createFolder(t));
  const seen = new Set<number>();
  let isStored = false;
  const appending = journal.append({ n: 1 }).then(() => {
    isStored = true;
  });
  while (!isStored) {
    seen.add(journal.state().lastSeq);
    await setImmediate();
  }
  await appending;
  assert.deepEqual([...seen], [0]);
  assert.equal(journal.state().lastSeq, 1);
});

test('close stores waiting records and refuses later ones', async (t) => {
  const directory = createFolder(t);
  const journal = await openTestJournal(t, directory);
  const waiting = appendNumbers(journal, 1, 100);
  await journal.close();
  await waiting;
  await assert.rejects(journal.append({ n: 101 }), { code: 'closed', message: 'the journal is closed' });
  assert.equal((await readFile(journal.file, 'utf8')).split('\n').length, 101);
});

test('without sync records are still acknowledged and stored', async (t) => {
  const directory = createFolder(t);
  const journal = await openJournal({ directory, name: 'log', sync: false });
  await appendNumbers(journal, 1, 3);
  assert.deepEqual(await listNumbers(journal), [1, 2, 3]);
  await journal.close();
});

test('a record that is too large is refused, and others are stored', async (t) => {
  const journal = await openTestJournal(t, createFolder(t), { maxLineBytes: 1000 });
  await journal.append({ n: 1 });
  const bare = Buffer.byteLength(toLineStart({ n: 2, text: '' }, randomUUID())) + lineEndBytes;
  const fits = 'x'.repeat(1000 - bare);
  const message = 'a record must not exceed 1000 bytes';
  await assert.rejects(journal.append({ n: 2, text: `${fits}x` }), { code: 'too-large', message });
  await journal.append({ n: 2, text: fits });
  assert.deepEqual(await listNumbers(journal), [1, 2]);
});

test('a full queue refuses records, and an empty queue accepts any record, even if larger than its limit', async (t) => {
  const journal = await openTestJournal(t, createFolder(t), { queueCount: 2, queueBytes: 100_000 });
  const two = [journal.append({ n: 1 }), journal.append({ n: 2 })];
  await assert.rejects(journal.append({ n: 3 }), { code: 'queue-full' });
  await Promise.all(two);
  const large = journal.append({ n: 4, text: 'x'.repeat(100_000) });
  await assert.rejects(journal.append({ n: 5 }), { code: 'queue-full' });
  await large;
  await journal.append({ n: 6 });
  assert.deepEqual(await listNumbers(journal), [1, 2, 4, 6]);
});

test('records that exceed one batch are written in several', async (t) => {
  const journal = await openTestJournal(t, createFolder(t));
  const text = 'x'.repeat(400_000);
  const appended = await Promise.all([1, 2, 3, 4, 5, 6].map((n) => journal.append({ n, text })));
  assert.deepEqual(
    appended.map(({ seq }) => seq),
    [1, 2, 3, 4, 5, 6],
  );
  assert.deepEqual(await listNumbers(journal), [1, 2, 3, 4, 5, 6]);
});
