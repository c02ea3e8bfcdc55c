import { randomBytes } from 'node:crypto';
import type { Role } from '../../auth/claims.ts';
import { findHashProblem, hashPassword, maximumPasswordBytes } from '../../auth/password.ts';
import type { User } from './schema.ts';

export interface Account {
  name: string;
  role: Role;
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

/** Starts without accounts; `load` adds those of `users`, or else admin and reader. */
export const createAccounts = () => {
  let accounts = new Map<string, Account>();
  // Random passwords by user name, generated once per process.
  const randomPasswords = new Map<string, string>();
  return {
    find: (name: string): Account | undefined => accounts.get(name),
    /** Replaces all accounts by those of the settings; returns a line for each random password that is new. */
    load: ({ users, adminPassword, readerPassword }: UserSettings): string[] => {
      const notices: string[] = [];
      const getRandomPassword = (name: string): string => {
        const known = randomPasswords.get(name);
        if (known !== undefined) return known;
        const password = randomBytes(12).toString('base64url');
        randomPasswords.set(name, password);
        notices.push(`Password of ${name} for this run: ${password}`);
        return password;
      };
      const createBuiltIn = (name: string, role: Role, password = getRandomPassword(name)): Account => {
        let hash: Promise<string> | undefined;
        return { name, role, readHash: () => (hash ??= hashPassword(password)) };
      };
      const list = users?.map(({ name, role, passwordHash }) => ({ name, role, readHash: () => passwordHash })) ?? [
        createBuiltIn('admin', 'Admin', adminPassword),
        createBuiltIn('reader', 'Reader', readerPassword),
      ];
      accounts = new Map(list.map((account) => [account.name, account]));
      return notices;
    },
  };
};

const findLengthProblem = (name: string, password = ''): string[] =>
  Buffer.byteLength(password) > maximumPasswordBytes
    ? [`the password of ${name} must be at most ${maximumPasswordBytes} bytes long`]
    : [];
