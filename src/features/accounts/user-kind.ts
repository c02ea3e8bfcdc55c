import { needs } from '../../auth/access.ts';
import { findHashProblem } from '../../auth/password.ts';
import { type Role, roles } from '../../auth/token.ts';
import { HttpError } from '../../http/errors.ts';
import { ownSender } from '../../kit/alert-record.ts';
import type { SettingKeeper } from '../../kit/setting-keeper.ts';
import { defineSettingKind, toSettingFacts } from '../../kit/setting-kind.ts';
import type { RuntimeSetting } from '../../kit/setting-store.ts';
import { ShownUser, UserParams } from './schema.ts';
import type { User } from './users.ts';

/** Stored form of a user. */
export interface StoredUser extends Pick<User, 'role' | 'passwordHash'> {
  /** Unix second up to which earlier versions refuse the user's tokens. */
  notBefore: number;
}

export interface Account {
  name: string;
  role: Role;
  /** `temporary`: admin and reader with random passwords, until an account is created. */
  origin: 'config' | 'made' | 'temporary';
  /** Runtime setting that defines the account. */
  setting?: RuntimeSetting<StoredUser>;
  /** Role combined with the password or hash. A login compares it with the account. */
  checked: string;
  /**
   * Returns the hash. The passwords of built-in accounts are hashed at their first login, because hashing at startup
   * would delay the first response.
   */
  readHash(): Promise<string> | string;
}

export type UserSettingKeeper = SettingKeeper<StoredUser, Account>;

/** Pattern for the names of runtime users and keys. These names appear in paths. */
export const accountNameForm = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/;

/** @throws HttpError if the name is invalid */
export const assertUserName = (name: string): void => {
  if (accountNameForm.test(name) && name.toLowerCase() !== ownSender) return;
  throw new HttpError(
    'invalid',
    `name must consist of up to 64 letters, digits, ".", "_", "@" and "-", begin with a letter or digit, and not be ${ownSender}`,
  );
};

/** Compiles a stored user. Throws an Error if the user is invalid. */
const compile = (setting: RuntimeSetting<StoredUser>): Account => {
  const { name, value } = setting;
  const problem = findProblem(value);
  if (problem !== undefined) throw new Error(problem);
  const { role, passwordHash } = value;
  return { name, role, origin: 'made', setting, checked: `${role} ${passwordHash}`, readHash: () => passwordHash };
};

const findProblem = (value: StoredUser): string | undefined => {
  if (!roles.includes(value?.role)) return `role must be ${roles.join(' or ')}`;
  if (!Number.isSafeInteger(value.notBefore)) return 'notBefore must be a Unix time in seconds';
  if (typeof value.passwordHash !== 'string') return 'passwordHash must be a string';
  const problem = findHashProblem(value.passwordHash);
  return problem === undefined ? undefined : `passwordHash ${problem}`;
};

/** Converts a user to its form in responses, without the hash of the password. */
export const toShownUser = ({ name, role, origin, setting }: Account): ShownUser => ({
  name,
  role,
  origin,
  ...toSettingFacts(setting),
});

/** Kind of runtime setting for users. `createAccounts` merges them with configured users and temporary accounts. */
export const userKind = defineSettingKind<StoredUser, Account>({
  name: 'user',
  noun: 'User',
  path: '/api/users',
  params: UserParams,
  shape: ShownUser,
  reading: needs('accounts:manage'),
  changing: { ...needs('accounts:manage'), changesAccess: true },
  limits: { count: 1000, plural: 'users' },
  isCaseless: true,
  order: 'origin',
  assertName: assertUserName,
  compile,
});
