import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createFolder } from '../../test/support/folder.ts';
import { openTestJournal } from '../../test/support/journal.ts';
import { LogFollower } from './log-follower.ts';

test('a follower takes each record once and in order while more records are being written', async (t) => {
  const journal = await openTestJournal(t, createFolder(t));
  const taken: unknown[] = [];
  const follower = new LogFollower(journal, {
    lastSeq: () => journal.state().lastSeq,
    from: () => 0,
    take: async ({ n }) => {
      taken.push(n);
      await setImmediate();
    },
  });
  const stop = journal.onStored(() => void follower.readOn());
  const count = 500;
  for (let n = 1; n <= count; n += 1) await journal.append({ n });
  await follower.readOn();
  stop();
  assert.deepEqual(
    taken,
    Array.from({ length: count }, (_, index) => index + 1),
  );
});
