import { runChild } from '../../execution/child.ts';
import { toFailure } from '../../execution/child-output.ts';
import { createLineReader } from '../../execution/lines.ts';
import { CommandFailure, type CommandOutput } from '../../execution/runner.ts';
import type { CommandParameters } from '../../policy/policy.ts';
import { createEventCollector } from './event-collector.ts';
import { toJournalArguments } from './journal-query.ts';
import { findProgram, type SystemPaths } from './programs.ts';
import { readUserNames } from './user-names.ts';

/** An entry whose JSON is longer is left out of the answer, which then says that it is truncated. */
const maxLineBytes = 1024 * 1024;

/**
 * Get-EventLog over systemd's journal, newest first. A CommandFailure says what is missing where the machine
 * has no journal or this account may not read it.
 */
export const getEventLog = async (
  paths: SystemPaths,
  parameters: CommandParameters<'Get-EventLog'>,
  signal: AbortSignal,
): Promise<CommandOutput> => {
  const program = await findProgram(paths.journalctl, 'Events need a journal: journalctl is not installed');
  const events = createEventCollector(parameters, await readUserNames());
  const { exitCode, stderr } = await runChild({
    program,
    args: toJournalArguments(parameters),
    onOutput: createLineReader(events.add, maxLineBytes),
    signal,
  });
  if (exitCode) throw toFailure(program, stderr);
  if (events.isUntouched()) await requireJournal(program, signal);
  return events.toOutput();
};

/** Asked for JSON, journalctl does not tell a journal without matching entries from no journal at all. */
const requireJournal = async (program: string, signal: AbortSignal): Promise<void> => {
  const args = ['--header', '--no-pager'];
  const { exitCode, stderr } = await runChild({ program, args, onOutput: () => false, signal });
  if (stderr.includes('No journal files were found')) {
    throw new CommandFailure('Events need a journal: no journal files were found on this machine');
  }
  if (exitCode) throw toFailure(program, stderr);
};
