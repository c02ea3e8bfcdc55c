import assert from 'node:assert/strict';
import { appendFile, readFile, rename, truncate, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { createFolder } from '../../../test/support/folder.ts';
import { appendNumbers, listNumbers, listRecords, openTestJournal } from '../../../test/support/journal.ts';
import { fc } from '../../../test/support/random.ts';
import type { Journal } from './journal.ts';
import { isFeatureEvent } from './line.ts';

const recentCount = 20;

const numbersOf = (records: readonly Record<string, unknown>[] | undefined): unknown[] | undefined =>
  records?.map(({ n }) => n);

const readAfter = async (journal: Journal, seq: number): Promise<unknown[]> => {
  const numbers: unknown[] = [];
  for await (const records of journal.readAfter(seq)) numbers.push(...records.map(({ n }) => n));
  return numbers;
};

const step = fc.oneof(
  fc.record({ append: fc.integer({ min: 1, max: 9 }), asGroup: fc.boolean() }),
  fc.constant({ restart: true as const }),
  fc.constant({ rotate: true as const }),
  fc.constant({ byHand: true as const }),
  fc.record({ events: fc.integer({ min: 1, max: 25 }) }),
);

test('records in memory equal the records in the files, whatever else writes to the files', async (t) => {
  const run = async (steps: readonly (typeof step extends fc.Arbitrary<infer S> ? S : never)[]): Promise<void> => {
    const directory = createFolder(t);
    const options = { recentCount, segmentBytes: 2000, retainSegments: 2 };
    let journal = await openTestJournal(t, directory, options);
    let next = 1;
    for (const taken of steps) {
      if ('append' in taken) {
        const records = Array.from({ length: taken.append }, () => ({ n: next++ }));
        await (taken.asGroup ? journal.appendAll(records) : Promise.all(records.map((each) => journal.append(each))));
      } else if ('events' in taken) {
        for (let n = 0; n < taken.events; n += 1) await journal.append({ feature: 'f', n: next++ });
      } else if ('restart' in taken) {
        await journal.close();
        journal = await openTestJournal(t, directory, options);
      } else {
        if ('rotate' in taken) await rename(journal.file, `${journal.file}.1`).catch(() => undefined);
        else await appendFile(journal.file, '{"n":"by hand"}\n');
        await journal.reopen();
      }
      for (const count of [1, 5, recentCount, 100]) {
        const known = numbersOf(journal.listRecent?.(count));
        const listed = await listNumbers(journal, count);
        if (known) assert.deepEqual(known, listed);
        const now = numbersOf(journal.listRecent?.(count));
        if (now) assert.deepEqual(now, listed);
      }
      const { lastSeq } = journal.state();
      for (const seq of [lastSeq - 30, lastSeq - 3, lastSeq].filter((each) => each >= 0)) {
        const after = journal.recentAfter?.(seq);
        const known = numbersOf(after);
        const listed = numbersOf(after?.filter((one) => !isFeatureEvent(one)));
        if (listed) {
          assert.deepEqual(listed, (await listNumbers(journal)).filter(Number).slice(-listed.length || Infinity));
        }
        assert.equal(known === undefined || known.length > 0 || seq === lastSeq, true);
        if (known) assert.deepEqual(await readAfter(journal, seq), known);
      }
    }
    await journal.close();
  };
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 12 }), run), { numRuns: 60 });
});

test('the last records are in memory once they were stored, or listed after a restart', async (t) => {
  const directory = createFolder(t);
  const journal = await openTestJournal(t, directory, { recentCount });
  assert.deepEqual(journal.listRecent?.(10), []);
  await appendNumbers(journal, 1, 15);
  assert.deepEqual(numbersOf(journal.listRecent?.(3)), [13, 14, 15]);
  assert.deepEqual(numbersOf(journal.listRecent?.(100)), await listNumbers(journal, 100));
  assert.deepEqual(journal.listRecent?.(3, { field: 'n', value: 'x' }), []);
  assert.deepEqual(numbersOf(journal.recentAfter?.(13)), [14, 15]);
  await journal.close();
  const next = await openTestJournal(t, directory, { recentCount });
  assert.equal(next.listRecent?.(3), undefined);
  const listed = await listRecords(next, 5);
  assert.deepEqual(next.listRecent?.(5), listed);
  assert.equal(next.listRecent?.(6), undefined);
  await appendNumbers(next, 16, 16);
  assert.deepEqual(numbersOf(next.listRecent?.(6)), [11, 12, 13, 14, 15, 16]);
});

test('a reader gets the same from memory as from the file: the fields that were appended, then id and seq', async (t) => {
  const run = async (records: Record<string, unknown>[]): Promise<void> => {
    const directory = createFolder(t);
    const journal = await openTestJournal(t, directory, { recentCount });
    const [one, ...others] = records;
    await journal.append(one ?? {});
    await journal.appendAll(others);
    const known = journal.recentAfter?.(0);
    assert.equal(journal.recentAfter?.(0)?.[0], known?.[0]);
    await journal.close();
    const stored: object[] = [];
    const reopened = await openTestJournal(t, directory);
    for await (const read of reopened.readAfter(0))
      stored.push(...read.map(({ crc: _, part: __, ...fields }) => fields));
    assert.deepEqual(known, stored);
    await reopened.close();
  };
  const name = fc.oneof(fc.constantFrom('id', 'level'), fc.string()).filter((each) => each !== '__proto__');
  const record = fc.dictionary(name, fc.jsonValue(), { noNullPrototype: true, maxKeys: 4 });
  const records = fc.array(
    record.map((each) => JSON.parse(JSON.stringify(each))),
    { minLength: 1, maxLength: 4 },
  );
  await fc.assert(fc.asyncProperty(records, run), { numRuns: 30 });
});

test('recentCount limits the records in memory, and by default no records are in memory', async (t) => {
  const journal = await openTestJournal(t, createFolder(t), { recentCount });
  await appendNumbers(journal, 1, 100);
  assert.equal(journal.listRecent?.(recentCount + 1), undefined);
  assert.equal(journal.recentAfter?.(1), undefined);
  const without = await openTestJournal(t, createFolder(t));
  await appendNumbers(without, 1, 3);
  await listNumbers(without, 3);
  assert.equal(without.listRecent?.(1), undefined);
  assert.equal(without.recentAfter?.(2), undefined);
});

test('a file that was cut shows in the list a second later at the latest', async (t) => {
  const journal = await openTestJournal(t, createFolder(t), { recentCount });
  await appendNumbers(journal, 1, 3);
  await truncate(journal.file, 0);
  const deadline = performance.now() + 5000;
  while (journal.listRecent?.(3) !== undefined && performance.now() < deadline) await new Promise(setImmediate);
  assert.equal(journal.listRecent?.(3), undefined);
  await appendNumbers(journal, 4, 4);
  assert.deepEqual(await listNumbers(journal, 3), [4]);
});

test('a record that is stored while the empty log is listed is listed from then on', async (t) => {
  for (let round = 0; round < 200; round += 1) {
    const directory = createFolder(t);
    const journal = await openTestJournal(t, directory, { recentCount });
    await appendNumbers(journal, 1, 2);
    await rename(journal.file, `${journal.file}.1`);
    await journal.reopen();
    const listings = Array.from({ length: 4 }, () => listNumbers(journal, 10));
    await appendNumbers(journal, 3, 3);
    await Promise.all(listings);
    const known = numbersOf(journal.listRecent?.(10)) ?? (await listNumbers(journal, 10));
    assert.deepEqual(known, [3], `round ${round}`);
    await journal.close();
  }
});

test('records of a file that is moved away while it is listed are not listed afterwards', async (t) => {
  for (let round = 0; round < 50; round += 1) {
    const directory = createFolder(t);
    const journal = await openTestJournal(t, directory, { recentCount });
    await appendNumbers(journal, 1, 8);
    await journal.close();
    const next = await openTestJournal(t, directory, { recentCount });
    await rename(next.file, `${next.file}.1`);
    const listings = Array.from({ length: 4 }, () => listNumbers(next, 10));
    await Promise.all([next.reopen(), ...listings]);
    assert.deepEqual(numbersOf(next.listRecent?.(10)) ?? (await listNumbers(next, 10)), [], `round ${round}`);
    await next.close();
  }
});

test('a line that was edited is no longer listed, also after another record', async (t) => {
  const journal = await openTestJournal(t, createFolder(t), { recentCount });
  await appendNumbers(journal, 1, 3);
  await writeFile(journal.file, (await readFile(journal.file, 'utf8')).replace('{"n":2', '{"n":9'));
  assert.deepEqual(await listNumbers(journal, 3), [1, 3]);
  await appendNumbers(journal, 4, 4);
  assert.deepEqual(numbersOf(journal.listRecent?.(3)) ?? (await listNumbers(journal, 3)), [1, 3, 4]);
});
