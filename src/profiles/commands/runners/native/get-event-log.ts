import { runChild } from '../../execution/child.ts';
import { collectRows, toFailure } from '../../execution/child-output.ts';
import { CommandFailure, type CommandOutput } from '../../execution/runner.ts';
import type { CommandParameters } from '../../policy/policy.ts';
import { createEventFilter } from '../event-filter.ts';
import { type JournalEntry, readUserNames, toEvent, toText } from './journal-entry.ts';
import { toJournalArguments } from './journal-query.ts';
import { findMatches } from './journal-values.ts';
import { requireProgram, type SystemPaths } from './programs.ts';

/**
 * Get-EventLog from systemd's journal, newest first. Rejects with a CommandFailure that says what is missing if the
 * machine has no journal or this account may not read it.
 */
export const getEventLog = async (
  paths: SystemPaths,
  parameters: CommandParameters<'Get-EventLog'>,
  signal: AbortSignal,
): Promise<CommandOutput> => {
  const program = await requireProgram(paths.journalctl, 'Events need a journal: journalctl is not installed');
  const alternatives = await findMatches(program, parameters, signal);
  if (alternatives.length === 0) {
    await requireJournal(program, signal);
    return { rows: [], truncated: false };
  }
  const userNames = await readUserNames();
  const isWanted = createEventFilter(parameters);
  let isEmpty = true;
  const events = collectRows(parameters.Newest, (line) => {
    isEmpty = false;
    const entry = JSON.parse(line) as JournalEntry;
    if (parameters.LogName === 'Application' && toText(entry['_PID']) === '1') return undefined;
    const event = toEvent(entry, userNames);
    return isWanted(event) ? event : undefined;
  });
  const { exitCode, stderr } = await runChild({
    program,
    args: toJournalArguments(parameters, alternatives),
    onOutput: events.onOutput,
    signal,
  });
  if (exitCode !== 0 && !events.isFull()) throw toFailure(program, stderr);
  const output = events.toOutput();
  if (isEmpty && !output.truncated) await requireJournal(program, signal);
  return output;
};

/** With JSON output, journalctl does not say whether there is no journal or no matching entry. */
const requireJournal = async (program: string, signal: AbortSignal): Promise<void> => {
  const args = ['--header', '--no-pager'];
  const { exitCode, stderr } = await runChild({ program, args, onOutput: () => false, signal });
  if (stderr.includes('No journal files were found')) {
    throw new CommandFailure('Events need a journal: no journal files were found on this machine');
  }
  if (exitCode) throw toFailure(program, stderr);
};
