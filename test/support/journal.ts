import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type Journal, openJournal } from '../../src/storage/journal/journal.ts';
import type { LogRecord, Match } from '../../src/storage/journal/line.ts';
import type { JournalEvent, JournalOptions } from '../../src/storage/journal/options.ts';
import { atEnd } from './scope.ts';

export interface TestJournal extends Journal {
  file: string;
  events: JournalEvent[];
}

/** Opens a journal named `log`. The journal is closed when the test ends. */
export const openTestJournal = async (
  t: TestContext,
  directory: string,
  options: Partial<JournalOptions> = {},
): Promise<TestJournal> => {
  const events: JournalEvent[] = [];
  const report = (event: JournalEvent): void => void events.push(event);
  const journal = await openJournal({ directory, name: 'log', report, minFreeBytes: 0, ...options });
  atEnd(t, () => journal.close());
  return { ...journal, file: join(directory, 'log.jsonl'), events };
};

/** Appends a record `{n}` for each number. */
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
