import type { Static } from 'typebox';
import Type from 'typebox';
import { roles } from '../../auth/token.ts';
import { defineList, defineShape, nullable, optionalText } from '../../kit/shape.ts';
import { exits } from './runner.ts';

export const CommandBody = defineShape('Command', {
  command: Type.String({
    minLength: 1,
    pattern: '\\S',
    // Longer than any allowed line, and still fast to parse.
    maxLength: 8192,
    description: 'A command line such as `Get-Process -Name ssh*`.',
    examples: ['Get-Process -Name node'],
  }),
});

export const CommandResult = defineShape('CommandResult', {
  success: Type.Literal(true),
  command: Type.String({ description: 'Command line as sent.', examples: ['Get-Process -Name node'] }),
  result: Type.Array(Type.Object({}, { additionalProperties: true, examples: [{ Name: 'node', Id: 4086 }] })),
  truncated: Type.Optional(Type.Literal(true, { description: 'True if the result was truncated at a limit.' })),
});

export const CommandError = defineShape('CommandError', {
  success: Type.Literal(false),
  error: Type.String({ description: 'Reason for the failure.', examples: ['The command did not finish within 30 s'] }),
  requestId: optionalText('Id of the request in the server log, which contains the details.', 'req-8'),
});

const time = '2026-01-31T09:30:00.123Z';

/** Audit record: a command and its outcome. */
export const Execution = defineShape('Execution', {
  time: Type.String({
    format: 'date-time',
    description: 'Time at which the request arrived, in UTC.',
    examples: [time],
  }),
  requestId: Type.String({ description: "Id of the request in the server's log.", examples: ['req-8'] }),
  user: nullable(
    Type.String({ description: 'Name of the user; null if commands need no token.', examples: ['admin'] }),
  ),
  role: nullable(Type.Enum(roles, { type: 'string' })),
  remoteAddress: Type.String({ examples: ['127.0.0.1'] }),
  command: Type.String({
    description: 'Name of the command; for a refused line, its first word.',
    examples: ['Get-Process'],
  }),
  parameters: nullable(
    Type.Object(
      {},
      { additionalProperties: true, description: 'Null if the line was refused.', examples: [{ Name: ['node'] }] },
    ),
  ),
  decision: Type.Enum(['allowed', 'refused'], { type: 'string' }),
  reason: nullable(
    Type.String({
      description: 'Reason for the refusal or failure.',
      examples: ['The command did not finish within 30 s'],
    }),
  ),
  exit: nullable(
    Type.Enum(exits, { type: 'string', description: 'Outcome of the command; null if the command did not start.' }),
  ),
  durationMs: nullable(Type.Integer({ description: 'Milliseconds, including the time in the queue.', examples: [3] })),
  rows: nullable(Type.Integer({ description: 'Objects in the result.', examples: [1] })),
  truncated: nullable(Type.Boolean({ examples: [false] })),
});

export type Execution = Static<typeof Execution>;

export const ExecutionQuery = Type.Object({
  count: Type.Integer({
    minimum: 0,
    maximum: 10_000,
    default: 10,
    description: 'Number of latest records to return.',
  }),
});

export const ExecutionList = defineList('ExecutionList', 'Records', Execution, 'Oldest first.');

/** Event on the `executions` topic. */
export const ExecutionNotice = defineShape('ExecutionNotice', { requestId: Type.String({ examples: ['req-8'] }) });

export const CommandList = defineShape('CommandList', {
  runner: Type.Enum(['native', 'powershell'], {
    type: 'string',
    description: 'The runner that executes commands.',
  }),
  commands: Type.Array(
    defineShape('CommandDescription', {
      name: Type.String({ examples: ['Get-Process'] }),
      summary: Type.String({ examples: ['Lists processes.'] }),
      parameters: Type.Object(
        {},
        { additionalProperties: true, description: 'A JSON Schema.', examples: [{ type: 'object', properties: {} }] },
      ),
    }),
  ),
});

const retention = (description: string) => Type.Integer({ minimum: 0, default: 0, description });

/** Settings of commands and of their audit, with defaults. */
export const commandSettings = {
  commandTimeout: Type.Integer({
    minimum: 1,
    maximum: 50,
    default: 10,
    description: 'Time limit for a command in seconds.',
  }),
  allowCommands: Type.Boolean({
    default: false,
    description: 'Run diagnostic commands for administrators of the hub that this server reports to.',
  }),
  commandRunner: Type.Enum(['auto', 'native', 'powershell'], {
    default: 'auto',
    description: 'Program that runs commands; auto means powershell on Windows and native elsewhere.',
  }),
  auditRetainBytes: retention('Maximum bytes of closed audit files to keep; 0 keeps all.'),
  auditRetainDays: retention('Days to keep a closed audit file; 0 keeps all.'),
};
