import Type, { type Static, type TSchema } from 'typebox';
import { roles } from '../../auth/claims.ts';
import { exits } from './execution/runner.ts';

export const CommandBody = Type.Object(
  {
    command: Type.String({
      minLength: 1,
      pattern: '\\S',
      // More than any allowed line needs, and little to parse.
      maxLength: 8192,
      description: 'A command line such as `Get-Process -Name ssh*`.',
      examples: ['Get-Process -Name node'],
    }),
  },
  { description: 'The command to run.' },
);

export const CommandResult = Type.Object({
  success: Type.Literal(true),
  command: Type.String({ description: 'The command line as it was given.' }),
  result: Type.Array(Type.Object({}, { additionalProperties: true })),
  truncated: Type.Optional(Type.Literal(true, { description: 'There was more than the bounds let through.' })),
});

export const CommandError = Type.Object({
  success: Type.Literal(false),
  error: Type.String({ description: 'Why the command failed, for people.' }),
  requestId: Type.Optional(Type.String({ description: 'Where the reason is in the log only: its request.' })),
});

const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** A command and its outcome: one record of the audit. */
export const Execution = Type.Object({
  time: Type.String({ format: 'date-time', description: 'When it was asked for, in UTC.' }),
  requestId: Type.String({ description: "The request's id in the program's log." }),
  user: orNull(Type.String({ description: 'Null where commands are open to everybody.' })),
  role: orNull(Type.Enum(roles)),
  remoteAddress: Type.String(),
  command: Type.String({ description: "The command's name; of a refused line its first word." }),
  parameters: orNull(
    Type.Object({}, { additionalProperties: true, description: 'As they were read; null where the line was refused.' }),
  ),
  decision: Type.Enum(['allowed', 'refused']),
  reason: orNull(Type.String({ description: 'Why it was refused, or failed.' })),
  exit: orNull(Type.Enum(exits, { description: 'How it ended; null where it did not begin.' })),
  durationMs: orNull(Type.Integer({ description: 'With the wait for its turn.' })),
  rows: orNull(Type.Integer({ description: 'How many objects the result held.' })),
  truncated: orNull(Type.Boolean()),
});

export type Execution = Static<typeof Execution>;

export const ExecutionQuery = Type.Object({
  count: Type.Integer({
    minimum: 0,
    maximum: 10_000,
    default: 10,
    description: 'How many of the last lines are shown.',
  }),
});

export const ExecutionList = Type.Object({
  count: Type.Integer({ description: 'How many lines `data` holds.' }),
  data: Type.Array(Execution, { description: 'Oldest first.' }),
});

export const CommandList = Type.Object({
  runner: Type.Enum(['native', 'powershell'], { description: 'What carries commands out.' }),
  commands: Type.Array(
    Type.Object({
      name: Type.String(),
      summary: Type.String(),
      parameters: Type.Object(
        {},
        { additionalProperties: true, description: 'JSON Schema of the parameters, by name.' },
      ),
    }),
  ),
});
