import type { FilterCondition } from '../filter.ts';
import { type CommandParameters, chooseProperties, type ParsedCommand } from '../policy.ts';
import { hasWildcard } from '../wildcards.ts';
import type { eventFilterNames } from './script.ts';

type Scalar = string | number | Date;

type Parameters = Record<string, Scalar | readonly Scalar[] | undefined>;

/** Windows event levels by entry type. Audits are informational. */
const eventLevels = {
  Error: [1, 2],
  Warning: [3],
  Information: [0, 4, 5],
  SuccessAudit: [0, 4],
  FailureAudit: [0, 4],
} as const;

/**
 * Returns the command as one line of JSON for the script's standard input. The line is ASCII, because the script does
 * not know the encoding of its input.
 */
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
 * Returns a parameter in the form that the script expects. `many` is set for a list. Strings and dates begin with `=`,
 * because PowerShell's JSON reader converts strings that look like dates.
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
      // Properties are always named explicitly, so that command lines and other secrets stay on the machine.
      const { ClassName, Filter } = command.parameters;
      const Property = chooseProperties(command.parameters);
      return { ClassName, Property, Filter: Filter && toWql(Filter) };
    }
  }
};

/** Returns the parameters by which Get-WinEvent can filter. `createAnswer` applies the other parameters. */
const toEventFilter = ({ LogName, After, Before, EntryType, Source }: CommandParameters<'Get-EventLog'>) => {
  const levels = EntryType?.flatMap((type) => eventLevels[type]);
  return {
    LogName,
    StartTime: After,
    EndTime: Before,
    Level: levels && [...new Set(levels)],
    ProviderName: Source?.some(hasWildcard) ? undefined : Source?.map(toPattern),
  } satisfies Record<(typeof eventFilterNames)[number], unknown>;
};

/**
 * Escapes brackets and backticks. They have a meaning in PowerShell's wildcards, but are plain characters in signalbox.
 */
const toPattern = (pattern: string): string => pattern.replaceAll(/[[\]\x60]/g, '\x60$&');

/** Returns the conditions as WQL. WQL also accepts numbers and booleans written as strings. */
const toWql = (conditions: readonly FilterCondition[]): string =>
  conditions
    .map(({ property, operator, value }) => `${property} ${operator} '${value.replaceAll(/[\\']/g, '\\$&')}'`)
    .join(' AND ');

const toAscii = (json: string): string =>
  json.replaceAll(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
