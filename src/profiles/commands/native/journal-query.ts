import type { CommandParameters } from '../policy.ts';
import { createAnyMatcher } from '../wildcard.ts';
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
export const createEventFilter = (
  parameters: Parameters,
): ((entry: JournalEntry, event: EventRow) => boolean) => {
  const { LogName, EntryType, InstanceId, Index } = parameters;
  const isFromSource = createAnyMatcher(parameters.Source ?? ['*']);
  const after = parameters.After?.toISOString() ?? '';
  const before = parameters.Before?.toISOString() ?? '9';
  return (entry, event) =>
    (LogName === 'System' || toText(entry['_PID']) !== '1') &&
    (EntryType === undefined || EntryType.includes(event.EntryType)) &&
    (InstanceId === undefined || (event.InstanceId !== null && InstanceId.includes(event.InstanceId))) &&
    (Index === undefined || (event.Index !== null && Index.includes(event.Index))) &&
    isFromSource(event.Source ?? '') &&
    isBetween(event.TimeGenerated ?? '', after, before);
};

const isBetween = (time: string, after: string, before: string): boolean => time > after && time < before;

const toSeconds = (date: Date): string => `@${date.getTime() / 1000}`;

/** An entry without a priority counts as Information, and journalctl would leave it out. */
const toPriorities = (types: Parameters['EntryType']): string[] => {
  if (!types || types.includes('Information')) return [];
  const first = types.includes('Error') ? 0 : 4;
  const last = types.includes('Warning') ? 4 : 3;
  return first <= last ? [`--priority=${first}..${last}`] : [];
};
