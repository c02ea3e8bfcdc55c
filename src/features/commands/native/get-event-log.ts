import { allEnded, runChild } from '../../../host/child.ts';
import { readUserNames } from '../../../host/linux/processes.ts';
import { readJournalField } from '../../../host/linux/systemd.ts';
import type { SystemPaths } from '../../../host/programs.ts';
import { collectRows, createLineReader, requireProgram, toCommandFailure } from '../child-output.ts';
import type { CommandParameters } from '../policy.ts';
import { CommandFailure, type CommandOutput, type OutputRow } from '../runner.ts';
import { createAnyMatcher } from '../wildcards.ts';

type Parameters = CommandParameters<'Get-EventLog'>;

/**
 * Get-EventLog. Reads systemd's journal, newest entries first. Rejects with a CommandFailure if the machine has no
 * journal or this account may not read it.
 */
export const getEventLog = async (
  paths: SystemPaths,
  parameters: Parameters,
  signal: AbortSignal,
): Promise<CommandOutput> => {
  const program = await requireProgram(paths.journalctl, 'Events need a journal: journalctl is not installed');
  const alternatives = await findMatches(program, parameters, signal);
  if (alternatives.length === 0) {
    await requireJournal(program, signal);
    return { rows: [], truncated: false };
  }
  const userNames = readUserNames();
  const isWanted = createEventFilter(parameters);
  let isEmpty = true;
  const events = collectRows(parameters.Newest, (line) => {
    isEmpty = false;
    const entry = JSON.parse(line) as JournalEntry;
    if (parameters.LogName === 'Application' && readJournalField(entry['_PID']) === '1') return undefined;
    const event = toEvent(entry, userNames);
    return isWanted(event) ? event : undefined;
  });
  const { exitCode, stderr } = await runChild({
    program,
    args: toJournalArguments(parameters, alternatives),
    onOutput: events.onOutput,
    signal,
  });
  if (exitCode !== 0 && !events.isFull()) throw toCommandFailure(program, stderr);
  const output = events.toOutput();
  if (isEmpty && !output.truncated) await requireJournal(program, signal);
  return output;
};

/**
 * Rejects if there is no journal. With JSON output, journalctl exits in the same way whether the journal is missing or
 * no entry matches.
 */
const requireJournal = async (program: string, signal: AbortSignal): Promise<void> => {
  const args = ['--header', '--no-pager'];
  const { exitCode, stderr } = await runChild({ program, args, onOutput: () => false, signal });
  if (stderr.includes('No journal files were found')) {
    throw new CommandFailure('Events need a journal: no journal files were found on this machine');
  }
  if (exitCode) throw toCommandFailure(program, stderr);
};

/** Creates a test of rows against the parameters of Get-EventLog, except LogName and Newest. */
export const createEventFilter = (parameters: Parameters): ((event: OutputRow) => boolean) => {
  const { EntryType, InstanceId, Index, After, Before } = parameters;
  const isFromSource = createAnyMatcher(parameters.Source ?? ['*']);
  return (event) => {
    const time = Date.parse(String(event['TimeGenerated']));
    return (
      isOneOf(EntryType, event['EntryType']) &&
      isOneOf(InstanceId, event['InstanceId']) &&
      isOneOf(Index, event['Index']) &&
      isFromSource(String(event['Source'] ?? '')) &&
      (!After || time > After.getTime()) &&
      (!Before || time < Before.getTime())
    );
  };
};

const isOneOf = (values: readonly unknown[] | undefined, value: unknown): boolean => values?.includes(value) ?? true;

/**
 * Terms for journalctl, by log. System: entries from the kernel, its audit, the journal itself and process 1.
 * Application: all other entries. Because journalctl cannot express "not process 1", `getEventLog` excludes these
 * entries itself.
 */
const terms: Record<Parameters['LogName'], readonly (readonly string[])[]> = {
  System: [['_TRANSPORT=kernel', '_TRANSPORT=audit', '_TRANSPORT=driver'], ['_PID=1']],
  Application: [['_TRANSPORT=syslog', '_TRANSPORT=journal', '_TRANSPORT=stdout']],
};

/**
 * Returns arguments that list the entries matching one of the alternatives, newest first. The arguments narrow the
 * search as far as journalctl can.
 */
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

/**
 * Returns the journal priorities of the entry types. Entries without a priority count as Information, but --priority
 * would exclude them.
 */
const toPriorities = (types: Parameters['EntryType']): string[] => {
  if (!types || types.includes('Information')) return [];
  const first = types.includes('Error') ? 0 : 4;
  const last = types.includes('Warning') ? 4 : 3;
  return first <= last ? [`--priority=${first}..${last}`] : [];
};

/**
 * Entry of `journalctl --output=json`. A value is a string, an array of bytes, or an array of strings and byte arrays.
 */
type JournalEntry = Readonly<Record<string, unknown>>;

/** Fields that `toEvent` reads and that journalctl writes only on request. */
// biome-ignore format: a list of names reads better in lines than in a column
const entryFields = [
  'MESSAGE', 'MESSAGE_ID', 'PRIORITY', 'SYSLOG_FACILITY', 'SYSLOG_IDENTIFIER', '_HOSTNAME', '_PID',
  '_SOURCE_REALTIME_TIMESTAMP', '_SYSTEMD_UNIT', '_UID',
] as const;

/** Names of syslog(3) facilities, by number. */
// biome-ignore format: a list of names reads better in lines than in a column
const facilities = [
  'kern', 'user', 'mail', 'daemon', 'auth', 'syslog', 'lpr', 'news',
  'uucp', 'cron', 'authpriv', 'ftp', '.', '.', '.', '.',
  'local0', 'local1', 'local2', 'local3', 'local4', 'local5', 'local6', 'local7',
];

/** Converts a journal entry to a Windows event log event. */
export const toEvent = (entry: JournalEntry, userNames: ReadonlyMap<string, string>) => {
  const read = (name: (typeof entryFields)[number]): string | null => readJournalField(entry[name]);
  const written = toTime(readJournalField(entry['__REALTIME_TIMESTAMP']));
  const instanceId = toInstanceId(read('MESSAGE_ID'));
  const uid = read('_UID');
  return {
    Index: toIndex(readJournalField(entry['__CURSOR'])),
    TimeGenerated: toTime(read('_SOURCE_REALTIME_TIMESTAMP')) ?? written,
    TimeWritten: written,
    EntryType: toEntryType(Number(read('PRIORITY') ?? 6)),
    Source: read('SYSLOG_IDENTIFIER') ?? read('_SYSTEMD_UNIT'),
    InstanceId: instanceId,
    EventID: instanceId === null ? null : instanceId % 2 ** 30,
    Category: facilities[Number(read('SYSLOG_FACILITY') ?? Number.NaN)] ?? null,
    Message: read('MESSAGE'),
    MachineName: read('_HOSTNAME'),
    UserName: uid && (userNames.get(uid) ?? uid),
  };
};

const toEntryType = (priority: number): 'Error' | 'Warning' | 'Information' => {
  if (priority <= 3) return 'Error';
  return priority === 4 ? 'Warning' : 'Information';
};

/** Returns the number of an entry in the journal: the hexadecimal `i=` part of its cursor. */
const toIndex = (cursor: string | null): number | null => {
  const digits = /;i=([0-9a-f]+)/.exec(cursor ?? '')?.[1];
  return digits === undefined ? null : Number.parseInt(digits, 16);
};

const toTime = (microseconds: string | null): string | null =>
  microseconds && new Date(Number(microseconds) / 1000).toISOString();

/** Returns the first 32 of the 128 bits of a message id. */
const toInstanceId = (messageId: string | null): number | null =>
  messageId && /^[0-9a-f]{32}$/.test(messageId) ? Number.parseInt(messageId.slice(0, 8), 16) : null;

/**
 * Maximum number of matches, and maximum bytes of a value. Needed because the length of a program's arguments is
 * limited.
 */
const maxMatches = 100;
const maxValueBytes = 1024;

/**
 * Returns alternative matches, in journalctl syntax, for entries with the wanted sources and ids: `[]` if the journal
 * has no such entry, `[[]]` if journalctl cannot narrow the search. journalctl finds exact values in its index.
 * Patterns and case-insensitive names are compared with the values that the journal contains.
 */
const findMatches = async (
  program: string,
  { Source, InstanceId, EntryType }: Parameters,
  signal: AbortSignal,
): Promise<string[][]> => {
  if (EntryType?.every((type) => type.endsWith('Audit'))) return [];
  const findValues = createValueFinder(program, signal);
  let sources: string[][] = [[]];
  if (Source) {
    const isWanted = createAnyMatcher(Source);
    // The source of an entry is its identifier or, without an identifier, its unit.
    const fields = ['SYSLOG_IDENTIFIER', '_SYSTEMD_UNIT'];
    const found = await allEnded(fields.map((field) => findValues(field, isWanted)));
    const known = found.filter((matches) => matches !== undefined);
    if (known.length === found.length) sources = known.filter((matches) => matches.length > 0);
  }
  const ids = InstanceId && (await findValues('MESSAGE_ID', (id) => InstanceId.includes(toInstanceId(id) ?? -1)));
  return ids?.length === 0 ? [] : sources.map((matches) => [...matches, ...(ids ?? [])]);
};

/**
 * Creates a function that returns matches for the wanted values of a field. It returns undefined if a value cannot be
 * an argument or if there are too many.
 */
const createValueFinder =
  (program: string, signal: AbortSignal) =>
  async (field: string, isWanted: (value: string) => boolean): Promise<string[] | undefined> => {
    const matches: string[] = [];
    let isKnown = true;
    const onOutput = createLineReader((value) => {
      if (value !== undefined && isWanted(value)) matches.push(`${field}=${value}`);
      // Invalid UTF-8 is read as U+FFFD, so the original value cannot be passed as an argument.
      isKnown = value !== undefined && !matches.at(-1)?.includes('\ufffd') && matches.length <= maxMatches;
      return isKnown;
    }, maxValueBytes);
    const args = [`--field=${field}`, '--no-pager'];
    const { exitCode, stderr } = await runChild({ program, args, onOutput, signal });
    if (exitCode !== 0 && isKnown) throw toCommandFailure(program, stderr);
    return isKnown ? matches : undefined;
  };
