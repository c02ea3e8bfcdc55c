import { basename } from 'node:path';
import { maxRows } from '../../execution/bounds.ts';
import { collectRows } from '../../execution/child-output.ts';
import { CommandFailure, type Row } from '../../execution/runner.ts';
import type { ParsedCommand } from '../../policy/policy.ts';
import { createEventFilter } from '../event-filter.ts';
import { isCmdlet, type ReadObject, rowMakers } from './objects.ts';

interface Message {
  command?: unknown;
  row?: ReadObject;
  error?: unknown;
  end?: unknown;
}

/**
 * Collects the script's output: a line of JSON for the cmdlet that it runs, for each object, and for the end.
 * `onOutput` throws a CommandFailure for PowerShell's own errors, and for output that is not from the script;
 * `toOutput` returns undefined if the end is missing.
 */
export const createAnswer = (program: string, command: ParsedCommand) => {
  // Get-WinEvent, which replaces a missing Get-EventLog, filters by some of the parameters only.
  const isWanted = command.name === 'Get-EventLog' ? createEventFilter(command.parameters) : () => true;
  let makeRow = rowMakers[command.name];
  let hasEnded = false;
  const toRow = (line: string): Row | undefined => {
    const { command: cmdlet, row, error, end } = parseMessage(program, line);
    if (error !== undefined) throw new CommandFailure(String(error));
    if (end) hasEnded = true;
    else if (isCmdlet(cmdlet)) makeRow = rowMakers[cmdlet];
    else if (row) return [makeRow(row)].find(isWanted);
    else throw toUnexpectedOutput(program);
    return undefined;
  };
  const most = command.name === 'Get-EventLog' ? command.parameters.Newest : maxRows + 1;
  const rows = collectRows(most, toRow);
  return { onOutput: rows.onOutput, toOutput: () => (hasEnded || rows.isFull() ? rows.toOutput() : undefined) };
};

const parseMessage = (program: string, line: string): Message => {
  try {
    return Object(JSON.parse(line));
  } catch {
    throw toUnexpectedOutput(program);
  }
};

const toUnexpectedOutput = (program: string): CommandFailure =>
  new CommandFailure(`${basename(program)} wrote unexpected output`);
