import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { createFolder } from '../../../test/support/folder.ts';
import { listNumbers, openTestJournal } from '../../../test/support/journal.ts';
import { waitUntil } from '../../../test/support/wait.ts';

const startScript = (t: TestContext, script: string): ChildProcess => {
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'ignore', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  return child;
};

test('a record is never acknowledged from a file that is emptied constantly', async (t) => {
  const directory = createFolder(t);
  const journal = await openTestJournal(t, directory, { retryMs: 5 });
  const script = `for (;;) try { require('fs').truncateSync(${JSON.stringify(journal.file)}) } catch {}`;
  const child = startScript(t, script);
  let refused = 0;
  await waitUntil('a record is refused', async () => {
    await journal.append({ n: 1 }).catch(({ code }) => {
      assert.equal(code, 'unavailable');
      refused += 1;
    });
    return refused > 0;
  });
  child.kill('SIGKILL');
  await once(child, 'exit');
  await waitUntil('a record is stored', () =>
    journal.append({ n: 2 }).then(
      () => true,
      () => false,
    ),
  );
  assert.equal((await listNumbers(journal)).at(-1), 2);
});

test('lines that another program appends do not disturb those written here', async (t) => {
  const journal = await openTestJournal(t, createFolder(t));
  const script = `for (;;) require('fs').appendFileSync(${JSON.stringify(journal.file)}, '{"n":"foreign"}\\n')`;
  const child = startScript(t, script);
  await waitUntil('the other program writes', () => journal.append({ n: 0 }).then(() => journal.events.length > 0));
  const before = (await listNumbers(journal)).filter((n) => n === 0);
  for (let n = 1; n <= 20; n += 1) {
    await journal.append({ n });
  }
  child.kill('SIGKILL');
  await once(child, 'exit');
  const own = (await listNumbers(journal, 10_000_000)).filter((n) => n !== 'foreign');
  assert.deepEqual(
    own.slice(before.length),
    Array.from({ length: 20 }, (_, index) => index + 1),
  );
});
