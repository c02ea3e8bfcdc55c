import type { CommandParameters } from '../../policy/policy.ts';
import { createEventFilter } from '../event-filter.ts';
import { type EventRow, entryFields, type JournalEntry, toText } from './journal-entry.ts';

type Parameters = CommandParameters<'Get-EventLog'>;

/**
 * The log System is what comes from the kernel, from its audit, from the journal itself and from process 1;
 * all else is Application, less process 1, for which journalctl has no term.
 */
const terms: Record<Parameters['LogName'], readonly string[]> = {
  System: ['_TRANSPORT=kernel', '_TRANSPORT=audit', '_TRANSPORT=driver', '+', '_PID=1'],
  Application: ['_TRANSPORT=syslog', '_TRANSPORT=journal', '_TRANSPORT=stdout'],
};

/** What journalctl is asked for: the newest first, and only what can be in the answer, as far as it can tell. */
export const toJournalArguments = ({ LogName, After, Before, EntryType }: Parameters): string[] => [
  '--output=json',
  `--output-fields=${entryFields.join(',')}`,
  '--all',
  '--reverse',
  '--no-pager',
  ...(After ? [`--since=${toSeconds(After)}`] : []),
  ...(Before ? [`--until=${toSeconds(Before)}`] : []),
  ...toPriorities(EntryType),
  ...terms[LogName],
];

/** Whether an entry, and the event made from it, are in the answer. */
export const createEntryFilter = (
  parameters: Parameters,
): ((entry: JournalEntry, event: EventRow) => boolean) => {
  const isAskedFor = createEventFilter(parameters);
  return (entry, event) =>
    (parameters.LogName === 'System' || toText(entry['_PID']) !== '1') && isAskedFor({ ...event });
};

const toSeconds = (date: Date): string => `@${date.getTime() / 1000}`;

/** An entry without a priority counts as Information, and journalctl would leave it out. */
const toPriorities = (types: Parameters['EntryType']): string[] => {
  if (!types || types.includes('Information')) return [];
  const first = types.includes('Error') ? 0 : 4;
  const last = types.includes('Warning') ? 4 : 3;
  return first <= last ? [`--priority=${first}..${last}`] : [];
};
