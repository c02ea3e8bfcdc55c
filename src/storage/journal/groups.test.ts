import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { createFolder } from '../../../test/support/folder.ts';
import { listNumbers, listRecords, openTestJournal } from '../../../test/support/journal.ts';
import { fc } from '../../../test/support/random.ts';

test('the records of a group follow each other and contain the numbers of their parts', async (t) => {
  const journal = await openTestJournal(t, createFolder(t));
  const [one, group, other] = await Promise.all([
    journal.append({ n: 1 }),
    journal.appendAll([{ n: 2 }, { n: 3 }, { n: 4 }]),
    journal.appendAll([{ n: 5 }]),
  ]);
  assert.deepEqual(
    [one, ...group, ...other].map(({ seq }) => seq),
    [1, 2, 3, 4, 5],
  );
  assert.deepEqual(await journal.appendAll([]), []);
  const records = await listRecords(journal);
  assert.deepEqual(
    records.map(({ id }) => id),
    [one, ...group, ...other].map(({ id }) => id),
  );
  assert.deepEqual(
    records.map(({ part }) => part),
    [undefined, '1/3', '2/3', '3/3', undefined],
  );
});

test('a group is refused whole if its lines or one of them are too large', async (t) => {
  const journal = await openTestJournal(t, createFolder(t), { maxLineBytes: 1_000_000 });
  const text = 'x'.repeat(900_000);
  const fits = Array.from({ length: 11 }, () => ({ text }));
  await journal.appendAll(fits);
  await assert.rejects(journal.appendAll([...fits, { text }]), {
    code: 'too-large',
    message: 'records that are stored together must not exceed 10485760 bytes',
  });
  await assert.rejects(journal.appendAll([{ text: '' }, { text: 'x'.repeat(1_000_000) }]), { code: 'too-large' });
  assert.equal((await listRecords(journal)).length, 11);
});

test('a group larger than a batch, a segment or the queue is stored in one file', async (t) => {
  const journal = await openTestJournal(t, createFolder(t), { segmentBytes: 5000, queueCount: 2 });
  await journal.append({ n: 0 });
  await journal.appendAll(Array.from({ length: 500 }, (_, index) => ({ n: index + 1, text: 'x'.repeat(4000) })));
  const lines = (await readFile(journal.file, 'utf8')).split('\n');
  assert.equal(lines.length, 501);
  assert.equal((await listNumbers(journal)).length, 501);
});

const sizes = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 5 });

test('a log cut at any byte keeps exactly its complete groups', async (t) => {
  const check = async (groups: number[]): Promise<void> => {
    const directory = createFolder(t);
    const journal = await openTestJournal(t, directory, { sync: false });
    const ends = [0];
    const numbers: number[][] = [];
    for (const size of groups) {
      const first = numbers.flat().length;
      numbers.push(Array.from({ length: size }, (_, index) => first + index));
      await journal.appendAll((numbers.at(-1) ?? []).map((n) => ({ n, text: 'x'.repeat(n % 7) })));
      ends.push((await readFile(journal.file)).length);
    }
    await journal.close();
    const bytes = await readFile(journal.file);
    for (let size = 0; size <= bytes.length; size += 13) {
      await writeFile(journal.file, bytes.subarray(0, size));
      const cut = await openTestJournal(t, directory, { sync: false });
      const whole = numbers
        .slice(
          0,
          ends.findLastIndex((end) => end <= size),
        )
        .flat();
      assert.deepEqual(await listNumbers(cut), whole);
      assert.equal((await cut.append({ n: 'next' })).seq, whole.length + 1);
      const [saved] = cut.events;
      if (saved?.type === 'tail-cut') {
        assert.deepEqual(await readFile(saved.savedAs), bytes.subarray(size - saved.bytes, size));
      }
      await cut.close();
    }
  };
  await fc.assert(fc.asyncProperty(sizes, check), { numRuns: 8 });
});

test('a record with a field named `part` does not count as a group', async (t) => {
  const directory = createFolder(t);
  const journal = await openTestJournal(t, directory);
  await journal.append({ n: 1, part: '1/2' });
  await journal.close();
  assert.deepEqual(await listNumbers(await openTestJournal(t, directory)), [1]);
});

test('an incomplete group before a handwritten line is kept, as are lines with another group size', async (t) => {
  const directory = createFolder(t);
  const journal = await openTestJournal(t, directory);
  await journal.appendAll([{ n: 1 }, { n: 2 }, { n: 3 }]);
  await journal.appendAll([{ n: 4 }, { n: 5 }]);
  await journal.close();
  const lines = (await readFile(journal.file, 'utf8')).split('\n');
  await writeFile(journal.file, `${lines.slice(1, 4).join('\n')}\n`);
  const next = await openTestJournal(t, directory);
  assert.deepEqual(await listNumbers(next), [2, 3]);
  await next.close();
  await writeFile(journal.file, `${lines.slice(0, 2).join('\n')}\n{"n":"by hand"}\n`);
  assert.deepEqual(await listNumbers(await openTestJournal(t, directory)), [1, 2, 'by hand']);
});
