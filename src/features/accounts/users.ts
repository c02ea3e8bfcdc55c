import type { Static } from 'typebox';
import Type from 'typebox';
import { findHashProblem, maximumPasswordBytes } from '../../auth/password.ts';
import { roles, tokenLifetime } from '../../auth/token.ts';
import { defineShape } from '../../kit/shape.ts';

export const RoleName = Type.Enum(roles, { type: 'string', title: 'Role' });

export const accountOrigin = Type.Enum(['config', 'made', 'temporary'], {
  type: 'string',
  description:
    '`config`: defined in the settings. `made`: created while the server was running. `temporary`: exists with a random password until an account is created.',
  examples: ['made'],
});

/** Name and password. Both are required, but a missing value gets a 401, just like a wrong value. */
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
  role: RoleName,
});

/** User in the config file. */
export const User = Type.Object(
  {
    name: Type.String({ minLength: 1 }),
    role: RoleName,
    passwordHash: Type.String({
      pattern: '^\\$argon2id\\$v=19\\$m=\\d+,t=\\d+,p=\\d+\\$[A-Za-z0-9+/]+\\$[A-Za-z0-9+/]+$',
      description: 'The output of `signalbox hash-password`.',
    }),
  },
  { additionalProperties: false },
);
export type User = Static<typeof User>;

const password = (name: string) =>
  Type.Optional(
    Type.String({
      minLength: 1,
      writeOnly: true,
      description: `Password of ${name}, at most 128 bytes; random if not set.`,
    }),
  );

const tries = (value: number, description: string) =>
  Type.Integer({ minimum: 0, maximum: 1_000_000, default: value, description });

export const loginSettings = {
  adminPassword: password('admin'),
  readerPassword: password('reader'),
  users: Type.Optional(
    Type.Array(User, {
      minItems: 1,
      writeOnly: true,
      description: 'Users that replace admin and reader: name, role, passwordHash.',
    }),
  ),
  loginTriesPerAddress: tries(
    8,
    'Number of failed logins after which logins from an address (IPv6: a /64) are delayed: 10 s, then twice as long each time; 0 means no limit.',
  ),
  loginTriesPerUser: tries(
    30,
    'Number of failed logins for one user within an hour, after which logins from the failing addresses are delayed by up to 30 s; 0 means no limit.',
  ),
  loginTriesInTotal: tries(
    200,
    'Number of failed logins for all users within an hour, after which logins from the failing addresses are delayed by up to 30 s; 0 means no limit.',
  ),
  loginMaxDelay: Type.Integer({
    minimum: 1,
    maximum: 3600,
    default: 300,
    description: 'Maximum delay of logins from an address, in seconds.',
  }),
};

export interface UserSettings {
  users?: User[];
  adminPassword?: string;
  readerPassword?: string;
}

/** Returns the problems with the configured users and passwords, as clauses without secrets. */
export const findUserProblems = ({ users, adminPassword, readerPassword }: UserSettings): string[] => {
  const problems = [...findLengthProblem('admin', adminPassword), ...findLengthProblem('reader', readerPassword)];
  if (!users) return problems;
  if (adminPassword !== undefined || readerPassword !== undefined) {
    problems.push(
      'adminPassword and readerPassword (SIGNALBOX_ADMIN_PASSWORD and SIGNALBOX_READER_PASSWORD) ' +
        'have no effect when users is set: remove both',
    );
  }
  if (new Set(users.map(({ name }) => name)).size < users.length) {
    problems.push('each user needs a different name');
  }
  for (const { name, passwordHash } of users) {
    const problem = findHashProblem(passwordHash);
    if (problem) problems.push(`the passwordHash of user ${JSON.stringify(name)} ${problem}`);
  }
  return problems;
};

const findLengthProblem = (name: string, password = ''): string[] =>
  Buffer.byteLength(password) > maximumPasswordBytes
    ? [`the password of ${name} must be at most ${maximumPasswordBytes} bytes long`]
    : [];
