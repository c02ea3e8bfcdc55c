import { homedir } from 'node:os';
import { basename } from 'node:path';
import { parseJson } from '../../../lib/parse-json.ts';
import { collectRows, runChild, toCommandFailure } from '../child.ts';
import { type FilterCondition, hasWildcard } from '../language.ts';
import { createEventFilter } from '../native/get-event-log.ts';
import { type CommandParameters, chooseProperties, type ParsedCommand } from '../policy.ts';
import { CommandFailure, maxRows, type OutputRow, type Runner } from '../runner.ts';
import { type eventFilterKeys, type readProperties, script } from './script.ts';

const args = ['-NoLogo', '-NoProfile', '-NonInteractive', '-Command', script];

/** Windows has no process groups; this program ends a process and its children. */
const taskkill = 'C:\\Windows\\System32\\taskkill.exe';

/**
 * Runs commands with the cmdlets of the PowerShell at the given absolute path, in one process for each. The
 * arguments are always the same; the command is data on standard input.
 */
export const createPowerShellRunner = (program: string, platform: NodeJS.Platform = process.platform): Runner => {
  const environment = createEnvironment(platform);
  return {
    name: 'powershell',
    run: async (command, signal) => {
      const answer = createAnswer(program, command);
      const { stderr } = await runChild({
        program,
        args,
        environment,
        input: toShellRequest(command),
        onOutput: answer.onOutput,
        signal,
        ...(platform === 'win32' && { treeEnder: taskkill }),
      });
      const output = answer.toOutput();
      if (output) return output;
      throw toCommandFailure(program, stderr);
    },
  };
};

/**
 * PowerShell's environment: nothing of the server's own, no telemetry, update checks, colours or diagnostic files.
 * On Windows, Node adds the variables that every program needs, such as SystemRoot. Elsewhere PowerShell needs a
 * PATH to start, and without a HOME it creates a temporary folder each time.
 */
export const createEnvironment = (platform: NodeJS.Platform): Record<string, string> => ({
  POWERSHELL_TELEMETRY_OPTOUT: '1',
  POWERSHELL_UPDATECHECK: 'Off',
  DOTNET_EnableDiagnostics: '0',
  NO_COLOR: '1',
  PSModuleAnalysisCachePath: platform === 'win32' ? 'nul' : '/dev/null',
  ...(platform !== 'win32' && { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8', HOME: homedir() }),
});

type Scalar = string | number | Date;

type Parameters = Record<string, Scalar | readonly Scalar[] | undefined>;

/** Windows' event levels by entry type; audits are a kind of information. */
const eventLevels = {
  Error: [1, 2],
  Warning: [3],
  Information: [0, 4, 5],
  SuccessAudit: [0, 4],
  FailureAudit: [0, 4],
} as const;

/** The command as one line of JSON for the script's standard input, in ASCII because its encoding is unknown. */
export const toShellRequest = (command: ParsedCommand): string => {
  const call = toCall(command.name, toParameters(command));
  const fallback =
    command.name === 'Get-EventLog' ? toCall('Get-WinEvent', toEventFilter(command.parameters)) : undefined;
  return `${toAscii(JSON.stringify({ ...call, fallback }))}\n`;
};

const toCall = (command: string, parameters: Parameters) => ({
  command,
  parameters: Object.entries(parameters).flatMap(([name, value]) => (value === undefined ? [] : toWire(name, value))),
});

/**
 * A parameter as the script expects it; `many` if it takes a list. Texts and dates begin with `=`: PowerShell's JSON reader
 * converts texts that look like dates.
 */
const toWire = (name: string, value: Scalar | readonly Scalar[]) => {
  const values = [value].flat() as Scalar[];
  const type = values[0] instanceof Date ? 'date' : typeof values[0] === 'number' ? 'number' : 'text';
  const toText = (each: Scalar) => (each instanceof Date ? each.toISOString() : each);
  const wire = values.map((each) => (typeof each === 'number' ? each : `=${toText(each)}`));
  return { name, type, many: Array.isArray(value), values: wire };
};

const toParameters = (command: ParsedCommand): Parameters => {
  switch (command.name) {
    case 'Get-Process':
      return { ...command.parameters, Name: command.parameters.Name?.map(toPattern) };
    case 'Get-Service': {
      const patterns = Object.entries(command.parameters);
      return Object.fromEntries(patterns.map(([name, values]) => [name, values.map(toPattern)]));
    }
    case 'Get-EventLog':
      return { ...command.parameters, Source: command.parameters.Source?.map(toPattern) };
    case 'Get-CimInstance': {
      // The properties are always named, so command lines and other secrets never leave the machine.
      const { ClassName, Filter } = command.parameters;
      const Property = chooseProperties(command.parameters);
      return { ClassName, Property, Filter: Filter && toWql(Filter) };
    }
  }
};

/** The parameters that Get-WinEvent can filter by; `createAnswer` applies the others. */
const toEventFilter = ({ LogName, After, Before, EntryType, Source }: CommandParameters<'Get-EventLog'>) => {
  const levels = EntryType?.flatMap((type) => eventLevels[type]);
  return {
    LogName,
    StartTime: After,
    EndTime: Before,
    Level: levels && [...new Set(levels)],
    ProviderName: Source?.some(hasWildcard) ? undefined : Source?.map(toPattern),
  } satisfies Record<(typeof eventFilterKeys)[number], unknown>;
};

/** Brackets are wildcards in PowerShell and a backtick escapes them; here all three are plain characters. */
const toPattern = (pattern: string): string => pattern.replaceAll(/[[\]\x60]/g, '\x60$&');

/** The conditions in WQL, which accepts numbers and booleans as texts too. */
const toWql = (conditions: readonly FilterCondition[]): string =>
  conditions
    .map(({ property, operator, value }) => `${property} ${operator} '${value.replaceAll(/[\\']/g, '\\$&')}'`)
    .join(' AND ');

const toAscii = (json: string): string =>
  json.replaceAll(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** An object from the script: the values by the path of each property. */
export type ReadObject = Readonly<Record<string, unknown>>;

/** The properties of Get-CimInstance come from its class. */
type Cmdlet = keyof typeof readProperties | 'Get-CimInstance';

/** Bits of an event's keywords, from winmeta.h. */
const keywordBits = { failureAudit: 2 ** 52, successAudit: 2 ** 53 };

/** Turns each cmdlet's objects into rows with the same properties as the native runner's, in the same order. */
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

/** Tests a signed 64-bit number. JavaScript rounds its lowest bits, but not these. */
const hasBit = (number: number, bit: number): boolean => Math.abs(Math.floor(number / bit) % 2) === 1;

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
