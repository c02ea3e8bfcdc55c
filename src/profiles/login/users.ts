import type { Static } from 'typebox';
import Type from 'typebox';
import { findHashProblem, hashPassword, maximumPasswordBytes } from '../../auth/password.ts';
import { type Role, roles, tokenLifetime } from '../../auth/token.ts';
import type { RandomSecrets } from '../feature.ts';
import { defineShape } from '../route.ts';

const RoleName = Type.Enum(roles, { type: 'string', title: 'Role' });

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
  role: RoleName,
});

/** A user of the settings. */
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

/** The login's settings with their defaults. */
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
    'Wrong logins from an address (IPv6: a /64) after which it is delayed: 10 s, then twice as long each time; 0 means no limit.',
  ),
  loginTriesPerUser: tries(
    30,
    'Wrong logins for one user within an hour after which addresses that fail are delayed by at most 30 s; 0 means no limit.',
  ),
  loginTriesInTotal: tries(
    200,
    'Wrong logins for all users within an hour after which addresses that fail are delayed by at most 30 s; 0 means no limit.',
  ),
  loginMaxDelay: Type.Integer({
    minimum: 1,
    maximum: 3600,
    default: 300,
    description: 'Longest delay of an address, in seconds.',
  }),
};

/** Of random passwords: 16 characters. */
const passwordBytes = 12;

export interface Account {
  name: string;
  role: Role;
  /** Role and password, or its hash: what a login checks. */
  checked: string;
  /** Built-in accounts hash their password with the first login: hashing on startup would delay the first response. */
  readHash(): Promise<string> | string;
}

interface UserSettings {
  users?: User[];
  adminPassword?: string;
  readerPassword?: string;
}

export type Accounts = ReturnType<typeof createAccounts>;

/** Why the users and passwords of the settings cannot be used, as clauses that contain no secrets. */
export const findUserProblems = ({ users, adminPassword, readerPassword }: UserSettings): string[] => {
  const problems = [...findLengthProblem('admin', adminPassword), ...findLengthProblem('reader', readerPassword)];
  if (!users) return problems;
  if (adminPassword !== undefined || readerPassword !== undefined) {
    problems.push(
      'adminPassword and readerPassword (SIGNALBOX_ADMIN_PASSWORD and SIGNALBOX_READER_PASSWORD) ' +
        'have no effect when users is set: remove them',
    );
  }
  if (new Set(users.map(({ name }) => name)).size < users.length) {
    problems.push('users must all have different names');
  }
  for (const { name, passwordHash } of users) {
    const problem = findHashProblem(passwordHash);
    if (problem) problems.push(`the passwordHash of user ${JSON.stringify(name)} ${problem}`);
  }
  return problems;
};

/**
 * Starts without accounts; `load` adds those of `users`, or else admin and reader. `revoke` is called for each user that is
 * removed then, or has another role or password.
 */
export const createAccounts = (secrets: RandomSecrets, revoke: (name: string) => void) => {
  let accounts = new Map<string, Account>();
  /** Users whose random passwords were announced. */
  const announced = new Set<string>();
  return {
    find: (name: string): Account | undefined => accounts.get(name),
    /** Replaces all accounts by those of the settings; returns lines that say where random passwords are, or what they are. */
    load: ({ users, adminPassword, readerPassword }: UserSettings): string[] => {
      const added: { name: string; password: string }[] = [];
      const getRandomPassword = (name: string): string => {
        const password = secrets.get(`${name}Password`, passwordBytes);
        if (!announced.has(name)) added.push({ name, password });
        return password;
      };
      const createBuiltIn = (name: string, role: Role, password = getRandomPassword(name)): Account => {
        let hash: Promise<string> | undefined;
        return { name, role, checked: `${role} ${password}`, readHash: () => (hash ??= hashPassword(password)) };
      };
      const createListed = ({ name, role, passwordHash }: User): Account => ({
        ...{ name, role, checked: `${role} ${passwordHash}` },
        readHash: () => passwordHash,
      });
      const list = users?.map(createListed) ?? [
        createBuiltIn('admin', 'Admin', adminPassword),
        createBuiltIn('reader', 'Reader', readerPassword),
      ];
      const before = accounts;
      accounts = new Map(list.map((account) => [account.name, account]));
      for (const { name, checked } of before.values()) if (accounts.get(name)?.checked !== checked) revoke(name);
      for (const { name } of added) announced.add(name);
      if (secrets.file === undefined) {
        return added.map(({ name, password }) => `Password of ${name} for this run: ${password}`);
      }
      const names = added.map(({ name }) => name).join(' and ');
      return added.length === 0 ? [] : [`Password${added.length > 1 ? 's' : ''} of ${names}: see ${secrets.file}`];
    },
  };
};

const findLengthProblem = (name: string, password = ''): string[] =>
  Buffer.byteLength(password) > maximumPasswordBytes
    ? [`the password of ${name} must be at most ${maximumPasswordBytes} bytes long`]
    : [];
