import Type from 'typebox';

/** The body of every refusal. */
export const ErrorBody = Type.Object({
  error: Type.String({ description: 'What was wrong, for people.' }),
});
