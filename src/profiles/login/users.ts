import { randomBytes } from 'node:crypto';
import type { Role } from '../../auth/claims.ts';
import { findHashProblem, hashPassword, maximumPasswordBytes } from '../../auth/password.ts';

import type { User } from './schema.ts';

export interface Account {
  name: string;
  role: Role;
  passwordHash: string | Promise<string>;
}

interface UserSettings {
  users?: User[];
  adminPassword?: string;
  readerPassword?: string;
}

/** What is wrong with the users and passwords of the settings, as clauses that show no secret. */
export const findUserProblems = ({ users, adminPassword, readerPassword }: UserSettings): string[] => {
  const problems = [
    ...findLengthProblem('admin', adminPassword),
    ...findLengthProblem('reader', readerPassword),
  ];
  if (!users) return problems;
  if (adminPassword !== undefined || readerPassword !== undefined) {
    problems.push('adminPassword and readerPassword have no effect where users is set: remove them');
  }
  if (toAccounts(users).size < users.length) problems.push('users must all have different names');
  for (const { name, passwordHash } of users) {
    const problem = findHashProblem(passwordHash);
    if (problem) problems.push(`the passwordHash of user ${JSON.stringify(name)} ${problem}`);
  }
  return problems;
};

/** Accounts by name. */
export const toAccounts = (accounts: readonly Account[]): Map<string, Account> =>
  new Map(accounts.map((account) => [account.name, account]));

/**
 * An account for one of the users there are out of the box, with a random password where none is set: then
 * `notice` tells it. The password is hashed in the background, so that the start does not wait for it.
 */
export const createBuiltInAccount = (
  name: string,
  role: Role,
  password: string | undefined,
): { account: Account; notice: string | undefined } => {
  const chosen = password ?? randomBytes(12).toString('base64url');
  return {
    account: { name, role, passwordHash: hashPassword(chosen) },
    notice: password === undefined ? `Password of ${name} for this run: ${chosen}` : undefined,
  };
};

const findLengthProblem = (name: string, password = ''): string[] =>
  Buffer.byteLength(password) > maximumPasswordBytes
    ? [`the password of ${name} must be at most ${maximumPasswordBytes} bytes long`]
    : [];
