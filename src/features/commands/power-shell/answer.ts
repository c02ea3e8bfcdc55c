import { basename } from 'node:path';
import { parseJson } from '../../../lib/parse-json.ts';
import { collectRows } from '../child-output.ts';
import { createEventFilter } from '../native/get-event-log.ts';
import type { ParsedCommand } from '../policy.ts';
import { CommandFailure, maxRows, type OutputRow } from '../runner.ts';
import type { readProperties } from './script.ts';

/** Object read from the output of the script, with values keyed by property path. */
export type ReadObject = Readonly<Record<string, unknown>>;

/** Cmdlets that return objects. For Get-CimInstance, the properties depend on the class. */
type Cmdlet = keyof typeof readProperties | 'Get-CimInstance';

/** Bits of an event's keywords, from winmeta.h. */
const keywordBits = { failureAudit: 2 ** 52, successAudit: 2 ** 53 };

/**
 * Functions that convert each cmdlet's objects to rows. The rows have the same properties as those of the native
 * runner, in the same order.
 */
export const rowMakers: Record<Cmdlet, (read: ReadObject) => OutputRow> = {
  'Get-Process': (read) => ({
    Id: read['Id'],
    ProcessName: read['ProcessName'],
    CPU: toHundredths(read['CPU']),
    WorkingSet64: read['WorkingSet64'],
    PagedMemorySize64: read['PagedMemorySize64'] || null,
    VirtualMemorySize64: read['VirtualMemorySize64'],
    PrivateMemorySize64: read['PrivateMemorySize64'] || null,
    HandleCount: read['HandleCount'],
    ThreadCount: read['Threads.Count'],
    SessionId: read['SessionId'],
    StartTime: read['StartTime'],
    Path: read['Path'] || null,
    ParentId: read['Parent.Id'],
  }),
  'Get-Service': (read) => ({ ...read, SubState: null, ExitCode: null }),
  'Get-EventLog': (read) => ({
    ...read,
    EntryType: read['EntryType'] === '0' ? 'Information' : read['EntryType'],
  }),
  'Get-WinEvent': (read) => ({
    Index: read['RecordId'],
    TimeGenerated: read['TimeCreated'],
    TimeWritten: read['TimeCreated'],
    EntryType: toEntryType(Number(read['Level']), Number(read['Keywords'])),
    Source: read['ProviderName'],
    InstanceId: Number(read['Qualifiers']) * 2 ** 16 + Number(read['Id']),
    EventID: read['Id'],
    Category: read['TaskDisplayName'],
    Message: read['Message'],
    MachineName: read['MachineName'],
    UserName: read['UserId'],
  }),
  'Get-CimInstance': (read) => ({ ...read }),
};

const isCmdlet = (name: unknown): name is Cmdlet => typeof name === 'string' && Object.hasOwn(rowMakers, name);

const toHundredths = (seconds: unknown): number | null =>
  typeof seconds === 'number' ? Math.round(seconds * 100) / 100 : null;

const toEntryType = (level: number, keywords: number): string => {
  if (hasBit(keywords, keywordBits.failureAudit)) return 'FailureAudit';
  if (hasBit(keywords, keywordBits.successAudit)) return 'SuccessAudit';
  if (level === 1 || level === 2) return 'Error';
  return level === 3 ? 'Warning' : 'Information';
};

/**
 * Tests a bit of a signed 64-bit number. JavaScript loses the lowest bits of such a number, but keeps the keyword bits.
 */
const hasBit = (number: number, bit: number): boolean => Math.abs(Math.floor(number / bit) % 2) === 1;

interface Message {
  command?: unknown;
  row?: ReadObject;
  error?: unknown;
  end?: unknown;
}

/**
 * Collects the output of the script: one line of JSON for the cmdlet that runs, one for each object, and one for the
 * end. `onOutput` throws a CommandFailure for PowerShell's own errors and for unexpected output. `toOutput` returns
 * undefined if the line for the end is missing.
 */
export const createAnswer = (program: string, command: ParsedCommand) => {
  // Get-WinEvent, used if Get-EventLog is missing, filters by only some of the parameters.
  const isWanted = command.name === 'Get-EventLog' ? createEventFilter(command.parameters) : () => true;
  let makeRow = rowMakers[command.name];
  let hasEnded = false;
  const toRow = (line: string): OutputRow | undefined => {
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
  const value = parseJson(line);
  if (value === undefined) throw toUnexpectedOutput(program);
  return Object(value);
};

const toUnexpectedOutput = (program: string): CommandFailure =>
  new CommandFailure(`${basename(program)} wrote unexpected output`);
