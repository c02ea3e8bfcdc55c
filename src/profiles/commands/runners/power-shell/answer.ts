import { basename } from 'node:path';
import { maxBytes, maxRows } from '../../execution/bounds.ts';
import { CommandFailure, type CommandOutput, type Row } from '../../execution/runner.ts';
import type { ParsedCommand } from '../../policy/policy.ts';
import { createEventFilter } from '../event-filter.ts';
import { isCmdlet, type ReadObject, rowMakers } from './rows.ts';

/** Gathers what the script writes: a line of JSON for the cmdlet it runs, for each object, and for its end. */
interface Answer {
  /**
   * Takes a line, undefined for one that is too long; false once there are enough. Throws a CommandFailure
   * for an error that PowerShell tells, and for what is no answer.
   */
  add(line: string | undefined): boolean;
  /** Undefined where the end is missing. */
  toOutput(): CommandOutput | undefined;
}

interface Message {
  command?: unknown;
  row?: ReadObject;
  error?: unknown;
  end?: unknown;
}

export const createAnswer = (program: string, command: ParsedCommand): Answer => {
  const rows: Row[] = [];
  const isWanted = createRowFilter(command);
  const most = command.name === 'Get-EventLog' ? command.parameters.Newest : maxRows + 1;
  const seen = { bytes: 0, tooLong: 0, ended: false };
  let makeRow = rowMakers[command.name];
  const addMessage = ({ command: cmdlet, row, error, end }: Message): void => {
    if (error !== undefined) throw new CommandFailure(String(error));
    if (end) seen.ended = true;
    else if (isCmdlet(cmdlet)) makeRow = rowMakers[cmdlet];
    else if (row) rows.push(...[makeRow(row)].filter(isWanted));
    else throw noAnswer(program);
  };
  const isFull = (): boolean => rows.length >= most || seen.bytes > maxBytes;
  return {
    add: (line) => {
      if (line === undefined) seen.tooLong += 1;
      else {
        seen.bytes += line.length;
        addMessage(parseMessage(program, line));
      }
      return !isFull();
    },
    toOutput: () => {
      if (!seen.ended && !isFull()) return undefined;
      return { rows, truncated: seen.tooLong > 0 || seen.bytes > maxBytes };
    },
  };
};

/** Where Get-WinEvent stands in for Get-EventLog, it filters by a part of the parameters only. */
const createRowFilter = (command: ParsedCommand): ((row: Row) => boolean) =>
  command.name === 'Get-EventLog' ? createEventFilter(command.parameters) : () => true;

const parseMessage = (program: string, line: string): Message => {
  try {
    return Object(JSON.parse(line));
  } catch {
    throw noAnswer(program);
  }
};

const noAnswer = (program: string): CommandFailure =>
  new CommandFailure(`${basename(program)} wrote something else than an answer`);
