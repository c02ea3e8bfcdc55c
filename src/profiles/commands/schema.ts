import Type from 'typebox';

export const CommandBody = Type.Object(
  {
    command: Type.String({
      minLength: 1,
      pattern: '\\S',
      // Long enough for every allowed line, short enough to be read in no time.
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
  truncated: Type.Optional(
    Type.Literal(true, { description: 'There was more than the bounds let through.' }),
  ),
});

export const CommandError = Type.Object({
  success: Type.Literal(false),
  error: Type.String({ description: 'Why the command failed, for people.' }),
  requestId: Type.Optional(Type.String({ description: 'Where the reason is in the log only: its request.' })),
});
