import assert from 'node:assert/strict';
import { appendFile, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createFolder } from '../../../../test/support/folder.ts';
import { openTestJournal, type TestJournal } from '../../../../test/support/journal.ts';
import { fc } from '../../../../test/support/random.ts';
import { isFeatureEvent, type LogRecord, type StoredRecord } from '../line.ts';
import type { Indexing } from '../options.ts';
import type { Search } from './search.ts';

const indexing: Indexing = {
  timeOf: ({ at }) => (typeof at === 'number' ? at : undefined),
  keyOf: ({ level }) => (typeof level === 'string' ? level : undefined),
  keys: ['ERROR'],
};

const options = { segmentBytes: 20_000, sync: false, indexing };

type Filter = Pick<Search, 'since' | 'until' | 'match' | 'test'>;

/** Lists every page, with the seq at which the page begins. */
const searchAll = async (journal: TestJournal, search: Omit<Search, 'before'>): Promise<StoredRecord[]> => {
  const found: StoredRecord[] = [];
  let before: number | undefined;
  for (let pages = 0; pages < 10_000; pages += 1) {
    const { records, next } = await journal.search({ ...search, before });
    assert.ok(records.length <= search.limit);
    found.push(...records);
    if (next === undefined) return found;
    assert.ok(before === undefined || next <= before);
    before = next;
  }
  assert.fail('the pages do not end');
};

/** Filters the records without using an index. */
const filterAll = (records: readonly LogRecord[], { since, until, match = [], test = () => true }: Filter) =>
  [...records].reverse().filter((record) => {
    const at = record['at'] as number | undefined;
    const isTimed = since !== undefined || until !== undefined;
    if (isTimed && (at === undefined || at < (since ?? 0) || at >= (until ?? Infinity))) return false;
    return match.every(({ field, accepts }) => accepts(record[field] as string)) && test(record as StoredRecord);
  });

const numbersOf = (records: readonly LogRecord[]): unknown[] => records.map(({ n }) => n);

const level = fc.constantFrom('ERROR', 'INFO', '', 'é"\\');
/** Time of a record. Clocks can go back, and some records have no time. */
const at = fc.option(fc.integer({ min: 0, max: 50 }), { nil: undefined });
const record = fc.record({ level, at, text: fc.nat(3000) });
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ append: fc.array(record, { minLength: 1, maxLength: 30 }) }) },
  { weight: 1, arbitrary: fc.constant({ foreign: '{"level":"ERROR","at":3}\n{"seq":1}\nnot a record\n\n' }) },
  { weight: 1, arbitrary: fc.constant({ foreign: `${'y'.repeat(70_000)}\n` }) },
  { weight: 1, arbitrary: fc.constant({ reopen: true as const }) },
  { weight: 1, arbitrary: fc.constant({ reopen: true as const, spoil: true as const }) },
  { weight: 3, arbitrary: fc.constant({ search: true as const }) },
);
const filter = fc.record({
  since: fc.option(fc.integer({ min: 0, max: 50 }), { nil: undefined }),
  until: fc.option(fc.integer({ min: 0, max: 50 }), { nil: undefined }),
  level: fc.option(level, { nil: undefined }),
  odd: fc.boolean(),
  limit: fc.integer({ min: 1, max: 40 }),
  maxBytes: fc.constantFrom(1, 10_000, 64 * 1024 * 1024),
});

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;
type FilterChoice = typeof filter extends fc.Arbitrary<infer S> ? S : never;

const spoilSidecars = async (directory: string): Promise<void> => {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.index'));
  for (const [index, name] of names.entries()) {
    const path = join(directory, name);
    const bytes = await readFile(path).catch(() => Buffer.alloc(0));
    await rm(path, { recursive: true });
    if (index % 4 === 0) await writeFile(path, 'garbage');
    if (index % 4 === 1) await writeFile(path, bytes.subarray(0, 100));
    if (index % 4 === 2) await mkdir(path);
    if (index % 4 === 3) await rename(join(directory, names[0] ?? ''), path);
  }
};

const compareSearch = async (journal: TestJournal, model: LogRecord[], choice: FilterChoice): Promise<void> => {
  const { since, until, odd, limit, maxBytes } = choice;
  const match =
    choice.level === undefined ? [] : [{ field: 'level', accepts: (text: string) => text === choice.level }];
  const isOdd = ({ n }: LogRecord): boolean => Number(n) % 2 === 1;
  const search = { since, until, match, ...(odd && { test: isOdd }) };
  const found = await searchAll(journal, { ...search, limit, maxBytes });
  assert.deepEqual(numbersOf(found), numbersOf(filterAll(model, search)));
};

const compareCounts = async (journal: TestJournal, model: LogRecord[]): Promise<void> => {
  const counts = new Map<string | undefined, number>();
  const add = (minute: number, key: string | undefined, count: number): void => {
    assert.equal(minute, 0);
    counts.set(key, (counts.get(key) ?? 0) + count);
  };
  assert.equal(await journal.countByMinute({ since: 0, until: 1, maxBytes: 1e9, add }), true);
  for (const key of ['ERROR', 'INFO', '', 'é"\\']) {
    const expected = model.filter((one) => one['at'] !== undefined && one['level'] === key).length;
    assert.equal(counts.get(key) ?? 0, expected, key);
  }
};

const run = async (t: TestContext, steps: Step[], choices: FilterChoice[]): Promise<void> => {
  const directory = createFolder(t);
  let journal = await openTestJournal(t, directory, options);
  const model: LogRecord[] = [];
  for (const taken of steps) {
    if ('append' in taken) {
      const batch = taken.append.map(({ text, ...fields }, index) => {
        const kept = fields.at === undefined ? { level: fields.level } : fields;
        return { n: model.length + index, ...kept, text: 'x'.repeat(text) };
      });
      const stored = await (batch.length % 2 === 0
        ? journal.appendAll(batch)
        : Promise.all(batch.map((one) => journal.append(one))));
      model.push(...batch.map((one, index) => ({ ...one, ...stored[index] })));
      // A record that no search finds.
      const [first] = batch;
      const event = await journal.append({ feature: 'f', ...first, at: undefined });
      assert.equal(await journal.find(event.id), undefined);
    } else if ('foreign' in taken) {
      await appendFile(journal.file, taken.foreign);
    } else if ('reopen' in taken) {
      await journal.close();
      if ('spoil' in taken) await spoilSidecars(directory);
      journal = await openTestJournal(t, directory, options);
    } else {
      for (const choice of choices) await compareSearch(journal, model, choice);
      await compareCounts(journal, model);
    }
  }
  for (const choice of choices) await compareSearch(journal, model, choice);
  await compareCounts(journal, model);
  for (const one of model.filter((_, index) => index % 17 === 0)) {
    assert.equal((await journal.find(String(one['id'])))?.['n'], one['n']);
  }
  const after: unknown[] = [];
  const from = Math.floor(model.length / 2);
  for await (const records of journal.readAfter(from)) {
    after.push(...numbersOf(records.filter((one) => !isFeatureEvent(one))));
  }
  assert.deepEqual(after, numbersOf(model.filter(({ seq }) => Number(seq) > from)));
  await journal.close();
};

test('search, counts, find and readAfter agree with plain filters over everything stored', async (t) => {
  const steps = fc.array(step, { minLength: 1, maxLength: 16 });
  const choices = fc.array(filter, { minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(steps, choices, (taken, chosen) => run(t, taken, chosen)),
    { numRuns: 60 },
  );
});
