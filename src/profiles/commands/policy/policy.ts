import { cimClassNames } from './cim-classes.ts';
import type { CommandPolicy, ParametersOf } from './policy-shape.ts';

const names = { type: 'pattern', maxLength: 128, maxValues: 16 } as const;
const numbers = { type: 'integer', min: 0, max: 2 ** 32 - 1, maxValues: 256 } as const;

/**
 * The allow list: each command with its parameters and their values; everything else is refused. Nothing here
 * reads files of other processes, needs elevation, reaches another machine or changes this one.
 */
export const policies = {
  'Get-Process': {
    summary: 'The processes of this machine.',
    first: 'Name',
    parameters: {
      Name: { ...names, description: 'Names of processes.' },
      Id: { ...numbers, description: 'Ids of processes.' },
    },
    exclusive: [['Name', 'Id']],
  },
  'Get-Service': {
    summary: 'The services of this machine.',
    first: 'Name',
    parameters: {
      Name: { ...names, description: 'Names of services.' },
      DisplayName: { ...names, description: 'Display names of services.' },
      Include: { ...names, description: 'Keep only services with these names.' },
      Exclude: { ...names, description: 'Leave out services with these names.' },
    },
    exclusive: [['Name', 'DisplayName']],
  },
  'Get-EventLog': {
    summary: 'Events of one log, the newest first.',
    first: 'LogName',
    parameters: {
      LogName: { type: 'choice', values: ['Application', 'System'], required: true, description: 'The log to read.' },
      Newest: { type: 'integer', min: 1, max: 1000, default: 50, description: 'Maximum number of events.' },
      After: { type: 'date', description: 'Only events later than this.' },
      Before: { type: 'date', description: 'Only events earlier than this.' },
      EntryType: {
        type: 'choice',
        values: ['Error', 'Information', 'Warning', 'SuccessAudit', 'FailureAudit'],
        maxValues: 5,
        description: 'Only events of these kinds.',
      },
      Source: { ...names, description: 'Only events that these programs wrote.' },
      InstanceId: { ...numbers, description: 'Only events with these instance ids.' },
      Index: {
        type: 'integer',
        min: 0,
        max: Number.MAX_SAFE_INTEGER,
        maxValues: 256,
        description: 'Only events with these numbers in the log.',
      },
    },
    exclusive: [],
  },
  'Get-CimInstance': {
    summary: 'The instances of one CIM class of this machine.',
    first: 'ClassName',
    parameters: {
      ClassName: { type: 'choice', values: cimClassNames, required: true, description: 'The class to read.' },
      Property: { type: 'property', maxValues: 32, description: 'The properties to return.' },
      Filter: { type: 'filter', maxLength: 1024, description: 'Only instances that meet these conditions.' },
      KeyOnly: { type: 'switch', description: 'Return only the properties that identify an instance.' },
    },
    exclusive: [['Property', 'KeyOnly']],
  },
} as const satisfies Record<string, CommandPolicy>;

export type CommandName = keyof typeof policies;

export const commandNames = Object.keys(policies) as CommandName[];

export type CommandParameters<C extends CommandName> = ParametersOf<(typeof policies)[C]['parameters']>;

/** An allowed command, with values of the types in its policy. */
export type ParsedCommand = {
  [C in CommandName]: { name: C; parameters: CommandParameters<C> };
}[CommandName];
