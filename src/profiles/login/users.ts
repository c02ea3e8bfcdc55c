import { randomBytes } from 'node:crypto';
import type { Role } from '../../auth/claims.ts';
import { hashPassword, maximumPasswordBytes } from '../../auth/password.ts';
import { SettingsError } from '../../config/settings-error.ts';
import type { User } from './schema.ts';

export interface Account {
  name: string;
  role: Role;
  passwordHash: string | Promise<string>;
}

/** The configured users as accounts by name; throws a SettingsError for a name that is there twice. */
export const toAccounts = (users: readonly User[]): Map<string, Account> => {
  const accounts = new Map(users.map((user) => [user.name, user]));
  if (accounts.size < users.length) throw new SettingsError(['users must all have different names']);
  return accounts;
};

/**
 * An account for one of the users there are out of the box, with a random password where none is set: then
 * `notice` tells it. The password is hashed in the background, so that the start does not wait for it.
 */
export const createBuiltInAccount = (
  name: string,
  role: Role,
  password: string | undefined,
): { account: Account; notice: string | undefined } => {
  if (password !== undefined && Buffer.byteLength(password) > maximumPasswordBytes) {
    throw new SettingsError([`the password of ${name} must be at most ${maximumPasswordBytes} bytes long`]);
  }
  const chosen = password ?? randomBytes(12).toString('base64url');
  return {
    account: { name, role, passwordHash: hashPassword(chosen) },
    notice: password === undefined ? `Password of ${name} for this run: ${chosen}` : undefined,
  };
};
