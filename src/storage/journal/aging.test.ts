import assert from 'node:assert/strict';
import { readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createFolder } from '../../../test/support/folder.ts';
import { appendNumbers, listNumbers, openTestJournal } from '../../../test/support/journal.ts';
import { hourMs } from '../../lib/units.ts';

const listFiles = async (directory: string): Promise<string[]> =>
  (await readdir(directory)).filter((name) => name.endsWith('.jsonl')).sort();

/** Creates a folder with a handwritten log of one record that was last modified the given number of hours ago. */
const createOldLog = async (t: TestContext, hours: number) => {
  const directory = createFolder(t);
  const file = join(directory, 'log.jsonl');
  await writeFile(file, '{"n":"old"}\n');
  const time = new Date(Date.now() - hours * hourMs);
  await utimes(file, time, time);
  return { directory, time };
};

/** Advances the clock and runs the timers of open journals. */
const advanceHours = (t: TestContext, hours: number): void => t.mock.timers.tick(hours * hourMs);

const startClock = (t: TestContext): void => t.mock.timers.enable({ apis: ['setInterval', 'Date'], now: Date.now() });

test('expired records are removed on startup, also from the active file', async (t) => {
  const { directory } = await createOldLog(t, 25);
  const journal = await openTestJournal(t, directory, { retainDays: 1 });
  assert.deepEqual(await listNumbers(journal), []);
  assert.deepEqual(await listFiles(directory), ['log.jsonl']);
  assert.deepEqual(
    journal.events.map(({ type }) => type),
    ['segments-removed'],
  );
});

test('an active file that is a day old is closed on startup and keeps its age', async (t) => {
  const { directory, time } = await createOldLog(t, 25);
  const journal = await openTestJournal(t, directory, { retainDays: 2 });
  assert.deepEqual(await listNumbers(journal), ['old']);
  assert.deepEqual(await listFiles(directory), ['log.00000001.jsonl', 'log.jsonl']);
  const { mtimeMs } = await stat(join(directory, 'log.00000001.jsonl'));
  assert.equal(Math.floor(mtimeMs / 1000), Math.floor(time.getTime() / 1000));
});

test('an active file less than a day old stays open, as does any file without retainDays', async (t) => {
  const young = await createOldLog(t, 23);
  await openTestJournal(t, young.directory, { retainDays: 1 });
  assert.deepEqual(await listFiles(young.directory), ['log.jsonl']);
  const old = await createOldLog(t, 9999);
  await openTestJournal(t, old.directory);
  assert.deepEqual(await listFiles(old.directory), ['log.jsonl']);
});

test('a running journal removes expired records even if no new ones arrive', async (t) => {
  startClock(t);
  const directory = createFolder(t);
  const journal = await openTestJournal(t, directory, { retainDays: 1 });
  await appendNumbers(journal, 1, 3);
  advanceHours(t, 23);
  await journal.reopen();
  assert.deepEqual(await listNumbers(journal), [1, 2, 3]);
  advanceHours(t, 2);
  await journal.reopen();
  assert.deepEqual(await listNumbers(journal), []);
});

test('a running journal closes an active file that is a day old, and keeps it for retainDays after its last record', async (t) => {
  startClock(t);
  const directory = createFolder(t);
  const journal = await openTestJournal(t, directory, { retainDays: 1 });
  await appendNumbers(journal, 1, 3);
  const written = new Date(Date.now() + 20 * hourMs);
  await utimes(journal.file, written, written);
  advanceHours(t, 25);
  await journal.reopen();
  await appendNumbers(journal, 4, 4);
  assert.deepEqual(await listNumbers(journal), [1, 2, 3, 4]);
  assert.deepEqual(await listFiles(directory), ['log.00000001.jsonl', 'log.jsonl']);
  advanceHours(t, 20);
  await journal.reopen();
  assert.deepEqual(await listNumbers(journal), [4]);
});

test('the seq continues after every record was removed, also after restarts', async (t) => {
  startClock(t);
  const directory = createFolder(t);
  const first = await openTestJournal(t, directory, { retainDays: 1 });
  await appendNumbers(first, 1, 3);
  advanceHours(t, 25);
  await first.reopen();
  await first.close();
  assert.equal((await readFile(first.file, 'utf8')).trim().split('\n').length, 1);
  const second = await openTestJournal(t, directory, { retainDays: 1 });
  assert.deepEqual(await listNumbers(second), []);
  advanceHours(t, 100);
  await second.reopen();
  await second.close();
  const third = await openTestJournal(t, directory, { retainDays: 1 });
  assert.equal((await third.append({ n: 4 })).seq, 4);
  assert.deepEqual(await listNumbers(third), [4]);
});
