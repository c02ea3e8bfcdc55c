import { chooseProperties } from '../cim-classes.ts';
import { type Condition, hasWildcard } from '../language.ts';
import type { CommandParameters, ParsedCommand } from '../policy.ts';
import type { eventFilterKeys } from './script.ts';

type Scalar = string | number | Date;

/** A parameter as the script expects it. */
interface WireParameter {
  name: string;
  type: 'text' | 'number' | 'date';
  /** The parameter takes a list. */
  many: boolean;
  /** Texts and dates begin with `=`: PowerShell's JSON reader converts texts that look like dates. */
  values: (string | number)[];
}

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

const toWire = (name: string, value: Scalar | readonly Scalar[]): WireParameter => {
  const values = [value].flat() as Scalar[];
  const [first] = values;
  const ofText = first instanceof Date ? 'date' : 'text';
  return {
    name,
    type: typeof first === 'number' ? 'number' : ofText,
    many: Array.isArray(value),
    values: values.map((each) =>
      typeof each === 'number' ? each : `=${each instanceof Date ? each.toISOString() : each}`,
    ),
  };
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

/** The parameters that Get-WinEvent can filter by; runner.ts applies the others. */
const toEventFilter = (
  parameters: CommandParameters<'Get-EventLog'>,
): Partial<Record<(typeof eventFilterKeys)[number], Scalar | readonly Scalar[]>> => {
  const { LogName, After, Before, EntryType, Source } = parameters;
  const levels = EntryType?.flatMap((type) => eventLevels[type]);
  return {
    LogName,
    ...(After && { StartTime: After }),
    ...(Before && { EndTime: Before }),
    ...(levels && { Level: [...new Set(levels)] }),
    ...(Source && !Source.some(hasWildcard) && { ProviderName: Source.map(toPattern) }),
  };
};

/** Brackets are wildcards in PowerShell and a backtick escapes them; here all three are plain characters. */
const toPattern = (pattern: string): string => pattern.replaceAll(/[[\]\x60]/g, '\x60$&');

/** The conditions in WQL, which accepts numbers and booleans as texts too. */
const toWql = (conditions: readonly Condition[]): string =>
  conditions
    .map(({ property, operator, value }) => `${property} ${operator} '${value.replaceAll(/[\\']/g, '\\$&')}'`)
    .join(' AND ');

const toAscii = (json: string): string =>
  json.replaceAll(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
