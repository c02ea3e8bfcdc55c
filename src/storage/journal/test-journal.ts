import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { JournalEvent } from './events.ts';
import type { LogRecord } from './format/line.ts';
import type { Match } from './format/parse.ts';
import { type Journal, openJournal } from './journal.ts';
import type { JournalOptions } from './options.ts';

export interface TestJournal extends Journal {
  file: string;
  events: JournalEvent[];
}

/** A folder that is deleted when the test ends. */
export const createFolder = async (t: TestContext): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'journal-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
};

/** A journal named `log`, closed when the test ends. */
export const openTestJournal = async (
  t: TestContext,
  directory: string,
  options: Partial<JournalOptions> = {},
): Promise<TestJournal> => {
  const events: JournalEvent[] = [];
  const report = (event: JournalEvent): void => void events.push(event);
  const journal = await openJournal({ directory, name: 'log', report, minFreeBytes: 0, ...options });
  t.after(() => journal.close());
  return { ...journal, file: join(directory, 'log.jsonl'), events };
};

/** Appends records `{n}` for the numbers. */
export const appendNumbers = async (journal: Journal, from: number, to: number): Promise<void> => {
  const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  await Promise.all(numbers.map((n) => journal.append({ n })));
};

export const listRecords = async (journal: Journal, count = 100_000, match?: Match): Promise<LogRecord[]> => {
  const listing = await journal.listLast(count, match);
  const records: LogRecord[] = [];
  for await (const record of listing.records()) {
    records.push(record);
  }
  await listing.close();
  assert.equal(records.length, listing.count);
  return records;
};

export const listNumbers = async (journal: Journal, count?: number, match?: Match): Promise<unknown[]> =>
  (await listRecords(journal, count, match)).map(({ n }) => n);

/** Lets other work run until the condition holds. */
export const waitUntil = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
  for (const deadline = performance.now() + 20_000; !(await condition()); await setImmediate()) {
    assert.ok(performance.now() < deadline, 'the condition never held');
  }
};
