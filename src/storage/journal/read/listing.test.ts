import assert from 'node:assert/strict';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createFolder } from '../../../../test/support/folder.ts';
import { appendNumbers, listNumbers, openTestJournal } from '../../../../test/support/journal.ts';
import { fc } from '../../../../test/support/random.ts';
import { toMark } from '../line.ts';
import { Runs } from './listing.ts';

/** Text that is too long for a listing to keep in memory. */
const long = 'x'.repeat(100_000);

/**
 * Opens a journal with two closed files and an active file. Each contains a record that is too long to be kept in
 * memory.
 */
const openThreeFiles = async (t: TestContext) => {
  const directory = createFolder(t);
  const journal = await openTestJournal(t, directory, { segmentBytes: 1 });
  for (let n = 1; n <= 3; n += 1) {
    await journal.append({ n, long });
  }
  return { directory, journal };
};

test('a listing returns the last matching records, whatever the lengths of records, files and windows', async (t) => {
  const record = fc.record({
    length: fc.oneof(fc.nat(300), fc.constantFrom(20_000, 65_300, 65_536, 140_000)),
    level: fc.constantFrom('A', 'B'),
    isEvent: fc.boolean(),
  });
  const cases = fc.record({
    records: fc.array(record, { minLength: 1, maxLength: 25 }),
    segmentBytes: fc.constantFrom(1000, 100_000, 10_000_000),
    count: fc.integer({ min: 1, max: 26 }),
  });
  await fc.assert(
    fc.asyncProperty(cases, async ({ records, segmentBytes, count }) => {
      const journal = await openTestJournal(t, createFolder(t), { segmentBytes, sync: false });
      const model = records.map(({ length, level }, n) => ({ n, level, text: 'x'.repeat(length) }));
      for (const [n, one] of model.entries()) {
        await journal.append(one);
        // A feature event. No list includes it.
        if (records[n]?.isEvent) await journal.append({ feature: 'f', ...one });
      }
      const last = model.slice(-count);
      assert.deepEqual(
        await listNumbers(journal, count),
        last.map(({ n }) => n),
      );
      for (const value of ['A', 'B', 'C']) {
        assert.deepEqual(
          await listNumbers(journal, count, { field: 'level', value }),
          last.filter(({ level }) => level === value).map(({ n }) => n),
        );
      }
      await journal.close();
    }),
    { numRuns: 40 },
  );
});

test('a listing shows the log as of its start, whatever is appended while it is read', async (t) => {
  const { journal } = await openThreeFiles(t);
  const listing = await journal.listLast(10);
  const numbers: unknown[] = [];
  for await (const { n } of listing.records()) {
    await journal.append({ n: 'later', long });
    numbers.push(n);
  }
  await listing.close();
  assert.deepEqual(numbers, [1, 2, 3]);
});

test('a closed file that is deleted while its records wait to be read is an error', async (t) => {
  const { directory, journal } = await openThreeFiles(t);
  const listing = await journal.listLast(10);
  const records = listing.records();
  assert.equal((await records.next()).value?.['n'], 1);
  await rm(join(directory, 'log.00000002.jsonl'));
  await assert.rejects(records.next(), { code: 'ENOENT' });
  await listing.close();
  assert.deepEqual(await listNumbers(journal), [1, 3]);
});

test('a mark is not listed and not counted as damaged', async (t) => {
  const directory = createFolder(t);
  await writeFile(join(directory, 'log.jsonl'), `{"n":1}\n${toMark(7)}`);
  const journal = await openTestJournal(t, directory);
  await appendNumbers(journal, 2, 2);
  assert.deepEqual(await listNumbers(journal, 2), [1, 2]);
  assert.equal(journal.state().lastSeq, 8);
  assert.deepEqual(journal.events, []);
  assert.match(await readFile(journal.file, 'utf8'), /"seq":8,/);
});

for (const [what, text] of [
  ['blank lines', '\n'.repeat(500_000)],
  ['short records', '{"level":"INFO","message":"one of many"}\n'.repeat(10_000)],
  ['records of 1 MB', `{"message":"${'x'.repeat(1_000_000)}"}\n`.repeat(20)],
] as const) {
  test(`listing ${what} blocks the event loop for less than 60 ms of CPU time`, async (t) => {
    const directory = createFolder(t);
    await writeFile(join(directory, 'log.jsonl'), text);
    const journal = await openTestJournal(t, directory);
    // Warm up, so that compilation is not measured.
    await listNumbers(journal, 10_000);
    let longest = 0;
    let start = process.cpuUsage();
    const measure = (): void => {
      const { user, system } = process.cpuUsage(start);
      longest = Math.max(longest, user + system);
      start = process.cpuUsage();
      turn = setImmediate(measure);
    };
    let turn = setImmediate(measure);
    await listNumbers(journal, 10_000);
    await new Promise(setImmediate);
    clearImmediate(turn);
    assert.ok(longest < 60_000, `${longest} µs`);
  });
}

/** Reads a string as if it were a file. */
const readFrom = (text: string) => async (buffer: Buffer, position: number) =>
  Buffer.from(text).copy(buffer, 0, position);

const readAll = async (runs: Runs, text: string): Promise<string[]> => {
  const lines: string[] = [];
  for await (const line of runs.readLines(readFrom(text))) {
    lines.push(line.toString());
  }
  return lines;
};

const sizes = fc.oneof(fc.integer({ min: 1, max: 30 }), fc.constantFrom(65_534, 65_535, 65_536, 140_000));

test('the added lines are read back in order, whatever lies between them', async () => {
  const lines = fc.array(fc.record({ size: sizes, isChosen: fc.boolean() }), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(lines, fc.boolean(), async (chosen, endsWithNewline) => {
      const texts = chosen.map(({ size }, index) => String.fromCharCode(97 + index).repeat(size));
      const runs = new Runs();
      let end = texts.join('\n').length;
      for (const { size, isChosen } of [...chosen].reverse()) {
        if (isChosen) runs.add({ start: end - size, length: size, bytes: undefined });
        end -= size + 1;
      }
      const expected = texts.filter((_, index) => chosen[index]?.isChosen);
      assert.deepEqual(await readAll(runs, texts.join('\n') + (endsWithNewline ? '\n' : '')), expected);
    }),
    { numRuns: 150 },
  );
});

test('reading fails if the file was cut after its lines were added', async () => {
  const runs = new Runs();
  runs.add({ start: 4, length: 3, bytes: undefined });
  await assert.rejects(readAll(runs, 'one\ntw'), { message: 'the log was truncated while it was read' });
});
