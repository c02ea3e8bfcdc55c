import type { CommandParameters } from '../../policy/policy.ts';
import { entryFields } from './journal-entry.ts';

type Parameters = CommandParameters<'Get-EventLog'>;

/**
 * System holds the entries of the kernel, its audit, the journal itself and process 1; Application holds all
 * others. journalctl has no term for "not process 1", so get-event-log.ts excludes it.
 */
const terms: Record<Parameters['LogName'], readonly (readonly string[])[]> = {
  System: [['_TRANSPORT=kernel', '_TRANSPORT=audit', '_TRANSPORT=driver'], ['_PID=1']],
  Application: [['_TRANSPORT=syslog', '_TRANSPORT=journal', '_TRANSPORT=stdout']],
};

/** Arguments for the newest entries first that fit one of the alternatives, restricted as far as journalctl can. */
export const toJournalArguments = (
  { LogName, After, Before, EntryType }: Parameters,
  alternatives: readonly (readonly string[])[],
): string[] => [
  '--output=json',
  `--output-fields=${entryFields.join(',')}`,
  '--all',
  '--reverse',
  '--no-pager',
  ...(After ? [`--since=${toSeconds(After)}`] : []),
  ...(Before ? [`--until=${toSeconds(Before)}`] : []),
  ...toPriorities(EntryType),
  ...terms[LogName]
    .flatMap((term) => alternatives.map((matches) => ['+', ...term, ...matches]))
    .flat()
    .slice(1),
];

const toSeconds = (date: Date): string => `@${date.getTime() / 1000}`;

/** Entries without a priority count as Information, but --priority would exclude them. */
const toPriorities = (types: Parameters['EntryType']): string[] => {
  if (!types || types.includes('Information')) return [];
  const first = types.includes('Error') ? 0 : 4;
  const last = types.includes('Warning') ? 4 : 3;
  return first <= last ? [`--priority=${first}..${last}`] : [];
};
