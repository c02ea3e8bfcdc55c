import { cimClassNames } from './cim-classes.ts';
import type { CommandPolicy, ParametersOf } from './policy-shape.ts';

const names = { type: 'pattern', maxLength: 128, maxValues: 16 } as const;
const numbers = { type: 'integer', min: 0, max: 2 ** 32 - 1, maxValues: 256 } as const;

/**
 * All that may be run: each command with its parameters and their values. What is not listed is refused;
 * nothing here reads the files of every process, needs elevation, reaches another machine or changes this one.
 */
export const policies = {
  'Get-Process': {
    first: 'Name',
    parameters: { Name: names, Id: numbers },
    exclusive: [['Name', 'Id']],
  },
  'Get-Service': {
    first: 'Name',
    parameters: { Name: names, DisplayName: names, Include: names, Exclude: names },
    exclusive: [['Name', 'DisplayName']],
  },
  'Get-EventLog': {
    first: 'LogName',
    parameters: {
      LogName: { type: 'choice', values: ['Application', 'System'], required: true },
      Newest: { type: 'integer', min: 1, max: 1000, default: 50 },
      After: { type: 'date' },
      Before: { type: 'date' },
      EntryType: {
        type: 'choice',
        values: ['Error', 'Information', 'Warning', 'SuccessAudit', 'FailureAudit'],
        maxValues: 5,
      },
      Source: names,
      InstanceId: numbers,
      Index: { type: 'integer', min: 0, max: Number.MAX_SAFE_INTEGER, maxValues: 256 },
    },
    exclusive: [],
  },
  'Get-CimInstance': {
    first: 'ClassName',
    parameters: {
      ClassName: { type: 'choice', values: cimClassNames, required: true },
      Property: { type: 'property', maxValues: 32 },
      Filter: { type: 'filter', maxLength: 1024 },
      KeyOnly: { type: 'switch' },
    },
    exclusive: [['Property', 'KeyOnly']],
  },
} as const satisfies Record<string, CommandPolicy>;

export type CommandName = keyof typeof policies;

export const commandNames = Object.keys(policies) as CommandName[];

export type CommandParameters<C extends CommandName> = ParametersOf<(typeof policies)[C]['parameters']>;

/** A command that the policy allows, with values of the types it names. */
export type ParsedCommand = {
  [C in CommandName]: { name: C; parameters: CommandParameters<C> };
}[CommandName];
