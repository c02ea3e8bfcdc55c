import { allEnded, runChild } from '../../execution/child.ts';
import { createLineReader, toFailure } from '../../execution/child-output.ts';
import { createAnyMatcher } from '../../language/wildcard.ts';
import type { CommandParameters } from '../../policy/policy.ts';
import { toInstanceId } from './journal-entry.ts';

/** More matches, or longer ones, could be too much for the arguments of a program. */
const maxMatches = 100;
const maxValueBytes = 1024;

/** Runs journalctl with the given arguments and hands on each line; undefined stands for a long one. */
type ReadLines = (args: string[], onLine: (line: string | undefined) => boolean) => Promise<void>;

/**
 * Alternatives of matches, in the syntax of journalctl, that all entries from the wanted sources and with the wanted
 * ids fit: `[]` if the journal has no such entry, `[[]]` if nothing is known. journalctl finds exact values in its
 * index; patterns, and names in any case, are compared with the values that the journal has.
 */
export const findMatches = async (
  program: string,
  { Source, InstanceId, EntryType }: CommandParameters<'Get-EventLog'>,
  signal: AbortSignal,
): Promise<string[][]> => {
  if (EntryType?.every((type) => type.endsWith('Audit'))) return [];
  const readLines: ReadLines = async (args, onLine) => {
    let isComplete = true;
    const onOutput = createLineReader((line) => {
      isComplete = onLine(line);
      return isComplete;
    }, maxValueBytes);
    const { exitCode, stderr } = await runChild({ program, args, onOutput, signal });
    if (exitCode !== 0 && isComplete) throw toFailure(program, stderr);
  };
  const sources = Source ? await findSources(readLines, createAnyMatcher(Source)) : [[]];
  const ids = InstanceId
    ? await findValues(readLines, 'MESSAGE_ID', (id) => InstanceId.includes(toInstanceId(id) ?? -1))
    : undefined;
  return ids?.length === 0 ? [] : sources.map((matches) => [...matches, ...(ids ?? [])]);
};

/** An entry's source is its identifier, or its unit if it has none. */
const findSources = async (readLines: ReadLines, isWanted: (text: string) => boolean): Promise<string[][]> => {
  const found = await allEnded(
    ['SYSLOG_IDENTIFIER', '_SYSTEMD_UNIT'].map((field) => findValues(readLines, field, isWanted)),
  );
  const known = found.filter((matches) => matches !== undefined);
  return known.length < found.length ? [[]] : known.filter((matches) => matches.length > 0);
};

/** Matches for the values of a field that are wanted; undefined if some cannot be named, or there are too many. */
const findValues = async (
  readLines: ReadLines,
  field: string,
  isWanted: (value: string) => boolean,
): Promise<string[] | undefined> => {
  const matches: string[] = [];
  let isKnown = true;
  await readLines([`--field=${field}`, '--no-pager'], (value) => {
    if (value !== undefined && isWanted(value)) matches.push(`${field}=${value}`);
    // Invalid UTF-8 is read as U+FFFD, and no argument can hold it.
    isKnown = value !== undefined && !matches.at(-1)?.includes('\ufffd') && matches.length <= maxMatches;
    return isKnown;
  });
  return isKnown ? matches : undefined;
};
