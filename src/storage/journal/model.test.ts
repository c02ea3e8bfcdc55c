import assert from 'node:assert/strict';
import { stat, truncate } from 'node:fs/promises';
import { type TestContext, test } from 'node:test';
import { createFolder } from '../../../test/support/folder.ts';
import { listNumbers, openTestJournal } from '../../../test/support/journal.ts';
import { fc } from '../../../test/support/random.ts';

const step = fc.oneof(
  fc.record({ append: fc.array(fc.nat(400), { minLength: 1, maxLength: 8 }) }),
  fc.record({ tear: fc.integer({ min: 1, max: 40 }) }),
  fc.constant({ reopen: true as const }),
);

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** Torn ends are much shorter than a line, so each damages at most one record. */
const options = { segmentBytes: 1500, sync: false };

const run = async (t: TestContext, steps: Step[]): Promise<void> => {
  const directory = createFolder(t);
  let journal = await openTestJournal(t, directory, options);
  const model: number[] = [];
  let next = 0;
  for (const taken of steps) {
    if ('append' in taken) {
      const batch = taken.append.map((length) => ({ n: next++, text: 'x'.repeat(length) }));
      await Promise.all(batch.map((record) => journal.append(record)));
      model.push(...batch.map(({ n }) => n));
    } else {
      await journal.close();
      const { size } = await stat(journal.file);
      if ('tear' in taken && size > 0) {
        await truncate(journal.file, size - taken.tear);
        model.pop();
      }
      journal = await openTestJournal(t, directory, options);
    }
    assert.deepEqual(await listNumbers(journal), model);
    assert.deepEqual(await listNumbers(journal, 3), model.slice(-3));
  }
  await journal.close();
};

test('appends, reopenings and torn last lines in any order match a plain array', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), (steps) => run(t, steps)),
    { numRuns: 60 },
  );
});
