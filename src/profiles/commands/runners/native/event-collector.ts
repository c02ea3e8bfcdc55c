import { maxBytes } from '../../execution/bounds.ts';
import type { CommandOutput, Row } from '../../execution/runner.ts';
import type { CommandParameters } from '../../policy/policy.ts';
import { type JournalEntry, toEvent } from './journal-entry.ts';
import { createEntryFilter } from './journal-query.ts';

/** Gathers from the journal's entries, newest first, what Get-EventLog answers. */
interface EventCollector {
  /** Takes an entry's JSON, undefined for one that is too long; false once there are enough. */
  add(line: string | undefined): boolean;
  /** Whether nothing was added, matching or not. */
  isUntouched(): boolean;
  toOutput(): CommandOutput;
}

export const createEventCollector = (
  parameters: CommandParameters<'Get-EventLog'>,
  userNames: ReadonlyMap<string, string>,
): EventCollector => {
  const rows: Row[] = [];
  const isWanted = createEntryFilter(parameters);
  const seen = { lines: 0, tooLong: 0, bytes: 0 };
  const addEntry = (line: string): void => {
    const entry = JSON.parse(line) as JournalEntry;
    const event = toEvent(entry, userNames);
    if (!isWanted(entry, event)) return;
    rows.push({ ...event });
    seen.bytes += line.length;
  };
  return {
    add: (line) => {
      seen.lines += 1;
      if (line === undefined) seen.tooLong += 1;
      else addEntry(line);
      return rows.length < parameters.Newest && seen.bytes <= maxBytes;
    },
    isUntouched: () => seen.lines === 0,
    toOutput: () => ({ rows, truncated: seen.tooLong > 0 || seen.bytes > maxBytes }),
  };
};
