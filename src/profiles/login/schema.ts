import Type, { type Static } from 'typebox';
import { roles, tokenLifetime } from '../../auth/token.ts';
import { defineShape } from '../route.ts';

const Role = Type.Enum(roles, { type: 'string', title: 'Role' });

/** Both are needed; a missing one is treated as a wrong one. */
export const Credentials = defineShape('Credentials', {
  Username: Type.Optional(Type.String({ examples: ['admin'] })),
  Password: Type.Optional(Type.String({ examples: ['correct horse battery staple'] })),
});

export const IssuedToken = defineShape('IssuedToken', {
  token: Type.String({
    description: 'A JWT, signed with HS256.',
    examples: ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZG1pbiJ9.KZzw'],
  }),
  tokenType: Type.Literal('Bearer'),
  expiresIn: Type.Literal(tokenLifetime, { description: 'Seconds.' }),
  role: Role,
});

/** A user of the settings. */
export const User = Type.Object(
  {
    name: Type.String({ minLength: 1 }),
    role: Role,
    passwordHash: Type.String({
      pattern: '^\\$argon2id\\$v=19\\$m=\\d+,t=\\d+,p=\\d+\\$[A-Za-z0-9+/]+\\$[A-Za-z0-9+/]+$',
      description: 'The output of `signalbox hash-password`.',
    }),
  },
  { additionalProperties: false },
);
export type User = Static<typeof User>;
