import { cimClasses, cimClassNames } from './cim-classes.ts';
import { findName, parseCommandLine, quoteWord, type RawParameter, Refusal } from './language.ts';
import {
  choiceKind,
  dateKind,
  filterKind,
  integerKind,
  patternKind,
  propertyKind,
  type ValueKind,
} from './value-kinds.ts';

export interface ParameterPolicy {
  /** Shown in the documentation and in GET /api/commands. */
  description: string;
  /** Kind of the values. Undefined for a switch. */
  kind?: ValueKind<unknown>;
  required?: true;
  /** Maximum number of values in a comma-separated list. Undefined if the parameter takes no list. */
  maxValues?: number;
  /** Value to use if the command line omits the parameter. */
  default?: number;
}

export interface CommandPolicy {
  /** Shown in the documentation and in GET /api/commands. */
  summary: string;
  /** Parameter to which an unnamed value belongs. */
  first: string;
  parameters: Record<string, ParameterPolicy>;
  /** Parameters that exclude each other. */
  exclusive?: readonly [string, string];
}

const names = { kind: patternKind(128), maxValues: 16 } as const;
const ids = { kind: integerKind(0, 2 ** 32 - 1), maxValues: 256 } as const;

/**
 * Allow list: each command with its parameters and their values. Anything else is refused. No command reads other
 * processes' files, needs elevation, reaches another machine or changes this one.
 */
export const policies = {
  'Get-Process': {
    summary: 'Lists the processes of this machine.',
    first: 'Name',
    parameters: {
      Name: { ...names, description: 'Names of processes.' },
      Id: { ...ids, description: 'Ids of processes.' },
    },
    exclusive: ['Name', 'Id'],
  },
  'Get-Service': {
    summary: 'Lists the services of this machine.',
    first: 'Name',
    parameters: {
      Name: { ...names, description: 'Names of services.' },
      DisplayName: { ...names, description: 'Display names of services.' },
      Include: { ...names, description: 'Includes only services with these names.' },
      Exclude: { ...names, description: 'Excludes services with these names.' },
    },
    exclusive: ['Name', 'DisplayName'],
  },
  'Get-EventLog': {
    summary: 'Lists the events of one log, newest first.',
    first: 'LogName',
    parameters: {
      LogName: { kind: choiceKind(['Application', 'System']), required: true, description: 'Log to read.' },
      Newest: { kind: integerKind(1, 1000), default: 50, description: 'Maximum number of events.' },
      After: { kind: dateKind, description: 'Only events after this time.' },
      Before: { kind: dateKind, description: 'Only events before this time.' },
      EntryType: {
        kind: choiceKind(['Error', 'Information', 'Warning', 'SuccessAudit', 'FailureAudit']),
        maxValues: 5,
        description: 'Only events of these kinds.',
      },
      Source: { ...names, description: 'Only events that these programs wrote.' },
      InstanceId: { ...ids, description: 'Only events with these instance ids.' },
      Index: {
        kind: integerKind(0, Number.MAX_SAFE_INTEGER),
        maxValues: 256,
        description: 'Only events with these numbers in the log.',
      },
    },
  },
  'Get-CimInstance': {
    summary: 'Lists the instances of one CIM class of this machine.',
    first: 'ClassName',
    parameters: {
      ClassName: { kind: choiceKind(cimClassNames), required: true, description: 'Class to read.' },
      Property: { kind: propertyKind, maxValues: 32, description: 'Properties to return.' },
      Filter: { kind: filterKind(1024), description: 'Only instances that meet these conditions.' },
      KeyOnly: { description: 'Returns only the properties that identify an instance.' },
    },
    exclusive: ['Property', 'KeyOnly'],
  },
} as const satisfies Record<string, CommandPolicy>;

type CommandName = keyof typeof policies;

export const commandNames = Object.keys(policies) as CommandName[];

type ValueOf<P> = P extends { kind: ValueKind<infer V> } ? (P extends { maxValues: number } ? V[] : V) : true;

type Always = { required: true } | { default: number };

type ParametersOf<T> = { [K in keyof T as T[K] extends Always ? K : never]: ValueOf<T[K]> } & {
  [K in keyof T as T[K] extends Always ? never : K]?: ValueOf<T[K]>;
};

/** Values of a command's parameters, typed by its policy. */
export type CommandParameters<C extends CommandName> = ParametersOf<(typeof policies)[C]['parameters']>;

/** Allowed command, with values of the types in its policy. */
export type ParsedCommand = {
  [C in CommandName]: { name: C; parameters: CommandParameters<C> };
}[CommandName];

/** Returns the properties that Get-CimInstance should return, in class order. */
export const chooseProperties = (parameters: CommandParameters<'Get-CimInstance'>): readonly string[] => {
  const { keys, properties } = cimClasses[parameters.ClassName];
  return parameters.KeyOnly ? keys : properties.filter((name) => parameters.Property?.includes(name) ?? true);
};

/** Returns the command with typed values, or the refusal. This function alone decides which commands may run. */
export const checkCommand = (line: string): ParsedCommand | Refusal => {
  try {
    return parseCommand(line);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
};

const parseCommand = (line: string): ParsedCommand => {
  const word = line.trim().split(/\s/, 1).join();
  const name = commandNames.find((known) => known === word);
  if (!name) throw new Refusal(`Command ${quoteWord(word)} is not allowed; allowed are ${commandNames.join(', ')}`);
  const given = nameParameters(parseCommandLine(line).parameters, policies[name]);
  return { name, parameters: toParameters(given, policies[name]) } as ParsedCommand;
};

/** Returns the given strings by parameter name, spelled as in the policy. */
const nameParameters = (parameters: RawParameter[], { first, parameters: allowed }: CommandPolicy) => {
  const given = new Map<string, string[]>();
  for (const { name, values } of parameters) {
    const known = findName(Object.keys(allowed), name ?? first);
    if (!known) throw new Refusal(`Parameter ${quoteWord(`-${name}`)} is not allowed`);
    if (given.has(known)) {
      throw new Refusal(
        name === undefined ? `Unexpected value ${quoteWord(values.join(','))}` : `-${known} is given twice`,
      );
    }
    given.set(known, values);
  }
  return given;
};

const toParameters = (given: Map<string, string[]>, { parameters: allowed, exclusive }: CommandPolicy): object => {
  if (exclusive?.every((name) => given.has(name))) {
    throw new Refusal(`-${exclusive.join(' and -')} cannot be combined`);
  }
  const className = findName(cimClassNames, given.get('ClassName')?.join() ?? '');
  const properties = className ? cimClasses[className].properties : [];
  const entries = Object.entries(allowed).map(([name, policy]) => {
    const texts = given.get(name);
    if (!texts && policy.required) throw new Refusal(`-${name} is required`);
    return [name, texts ? toValue(name, policy, texts, properties) : policy.default];
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
};

/**
 * Returns the value of a parameter, or its list of values. `properties` are the properties of the class named in the
 * command.
 */
const toValue = (
  name: string,
  { kind, maxValues }: ParameterPolicy,
  texts: readonly string[],
  properties: readonly string[],
): unknown => {
  if (!kind && texts.length > 0) throw new Refusal(`-${name} takes no value`);
  if (!kind) return true;
  if (texts.length === 0) throw new Refusal(`-${name} needs a value`);
  const most = maxValues ?? 1;
  if (texts.length > most) throw new Refusal(`-${name} takes at most ${most} ${most === 1 ? 'value' : 'values'}`);
  try {
    const values = texts.map((text) => kind.parse(text, properties));
    return maxValues === undefined ? values[0] : values;
  } catch (error) {
    throw error instanceof Refusal ? new Refusal(`-${name}: ${error.message}`) : error;
  }
};

/**
 * Describes every allowed command with a JSON Schema (2020-12) of its parameters. Lists are arrays. A switch is `true`.
 * The schema cannot express the grammar of filters, or require that a date exists.
 */
export const describeCommands = () =>
  Object.entries<CommandPolicy>(policies).map(([name, { summary, first, parameters, exclusive }]) => {
    const entries = Object.entries(parameters);
    const required = entries.filter(([, policy]) => policy.required).map(([key]) => key);
    const properties = entries.map(([key, policy]) => [key, toParameterSchema(policy, key === first)]);
    const schema = {
      type: 'object',
      additionalProperties: false,
      properties: Object.fromEntries(properties),
      ...(required.length > 0 && { required }),
      ...(exclusive && { allOf: [{ not: { required: exclusive } }] }),
      ...(parameters['Property'] && { oneOf: listClassSchemas() }),
    };
    return { name, summary, parameters: schema };
  });

const listClassSchemas = (): object[] =>
  Object.entries(cimClasses).map(([name, { properties }]) => ({
    properties: { ClassName: { const: name }, Property: { items: { enum: properties } } },
  }));

const switchSchema = { type: 'boolean', const: true };

const toParameterSchema = ({ description, kind, maxValues, default: standard }: ParameterPolicy, isFirst: boolean) => {
  const value = kind?.schema ?? switchSchema;
  const sentences = [description, kind?.hint, isFirst && 'The parameter name may be omitted.'];
  return {
    description: sentences.filter(Boolean).join(' '),
    ...(maxValues === undefined ? value : { type: 'array', minItems: 1, maxItems: maxValues, items: value }),
    ...(standard !== undefined && { default: standard }),
  };
};
