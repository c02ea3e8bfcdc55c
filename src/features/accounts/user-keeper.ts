import { hashPassword } from '../../auth/password.ts';
import { findWeakness } from '../../auth/password-strength.ts';
import { type Role, toSecond } from '../../auth/token.ts';
import { HttpError, requireKnown } from '../../http/errors.ts';
import { ownSender } from '../../kit/alert-record.ts';
import type { Parts } from '../../kit/feature.ts';
import type { PutOptions } from '../../kit/setting-store.ts';
import { StoreConflict } from '../../lib/expected-errors.ts';
import { createSerial } from '../../lib/scheduling.ts';
import type { Accounts } from './accounts.ts';
import type { SessionEnds, StoredSessionEnd } from './session-ends.ts';
import { type Account, assertUserName, type StoredUser, type UserSettingKeeper } from './user-kind.ts';

/** Options of a change that takes rights away. */
const revocation: PutOptions = { isRevocation: true };

export interface NewAccount {
  name: string;
  role: Role;
  password: string;
}

/**
 * Stores a new user. Rejects with an HttpError if the name or password is invalid, and with a 409 if the user exists.
 */
export const addUser = async (
  users: UserSettingKeeper,
  { name, role, password }: NewAccount,
  by: string,
  clock: () => Date,
): Promise<void> => {
  assertUserName(name);
  assertStrong(name, password);
  users.assertFree(name);
  const passwordHash = await hashPassword(password);
  await users.create(name, { role, passwordHash, notBefore: toSecond(clock()) }, by);
};

/** @throws HttpError if the password is too weak */
const assertStrong = (name: string, password: string): void => {
  const weakness = findWeakness(password, name);
  if (weakness !== undefined) throw new HttpError('invalid', `password ${weakness}`);
};

/** Creates the error for a setup link that has been used or is not needed. */
export const linkUsed = (): HttpError =>
  new HttpError('forbidden', 'The link was already used, or an account exists: log in');

export type UserKeeper = ReturnType<typeof createUserKeeper>;

/**
 * Creates the keeper. It changes users one at a time, because two concurrent changes could remove the last two
 * administrators.
 */
export const createUserKeeper = (
  accounts: Accounts,
  users: UserSettingKeeper,
  sessionEnds: SessionEnds,
  { clock, removeOwned }: Pick<Parts, 'clock'> & { removeOwned(name: string, by: string): Promise<void> },
) => {
  const serially = createSerial();
  const requireRuntime = (name: string): Account => {
    const account = requireKnown(accounts.find(name), 'User', name, '/api/users');
    if (account.origin === 'made') return account;
    throw new HttpError(
      'wrong-state',
      account.origin === 'config'
        ? `User ${name} is defined in the settings: change the user there`
        : `User ${name} is temporary and cannot be changed: create an account`,
    );
  };
  const requireFound = (name: string): Account => {
    const account = accounts.find(name);
    if (account) return account;
    throw new HttpError('wrong-state', `User ${name} was deleted in the meantime`);
  };
  /** Refuses to remove the last administrator, because only the config file could then add one. */
  const assertOthers = (name: string, change: string): void => {
    const isOther = (one: Account): boolean => one.name !== name && one.role === 'Admin' && one.origin !== 'temporary';
    if (accounts.list().some(isOther)) return;
    throw new HttpError('wrong-state', `${name} is the last administrator: ${change}`);
  };
  const assertVersion = ({ name, setting }: Account, expected: readonly number[] | undefined): void => {
    const version = setting?.version ?? 0;
    if (!expected || expected.includes(version)) return;
    throw new StoreConflict(`${name} was changed; its current version is ${version}`, version);
  };
  /**
   * Revokes all tokens of a name. Tokens of an account are revoked by generation. Tokens from another issuer are
   * revoked up to this second.
   */
  const endSessions = (name: string, by: string): Promise<StoredSessionEnd> =>
    sessionEnds.put(name, by, accounts.findGrant(name) === undefined || isForeignEnd(name));
  const isForeignEnd = (name: string): boolean =>
    accounts.find(name) === undefined && sessionEnds.find(name)?.value.isForeign === true;
  const add = async (given: NewAccount, by: string): Promise<Account> => {
    const lower = given.name.toLowerCase();
    const taken = accounts.list().find((one) => one.origin === 'config' && one.name.toLowerCase() === lower);
    if (taken) throw new HttpError('wrong-state', `User ${taken.name} is defined in the settings: choose another name`);
    assertUserName(given.name);
    // A configured or temporary account that becomes a runtime account belongs to the same person.
    if (accounts.find(given.name) === undefined) await removeOwned(given.name, by);
    await addUser(users, given, by, clock);
    return requireFound(given.name);
  };
  const change = async (
    name: string,
    { role, password }: { role: Role; password?: string | undefined },
    by: string,
    expected?: readonly number[],
  ): Promise<Account> => {
    const account = requireRuntime(name);
    const { setting } = account;
    if (!setting) return account;
    assertVersion(account, expected);
    if (account.role === 'Admin' && role !== 'Admin') assertOthers(name, 'create another administrator first');
    if (password !== undefined) assertStrong(name, password);
    // A change that changes nothing must not log anyone out.
    else if (role === account.role) return account;
    const passwordHash = password === undefined ? setting.value.passwordHash : await hashPassword(password);
    const value: StoredUser = { role, passwordHash, notBefore: toSecond(clock()) };
    // A change by another instance that is not known here yet must not be overwritten.
    await users.store(name, value, by, expected ?? [setting.version], revocation);
    return requireFound(name);
  };
  return {
    create: (given: NewAccount, by: string): Promise<Account> => serially(() => add(given, by)),
    /** Creates the first administrator, unless another instance has already done so. */
    createFirst: ({ name, password }: Omit<NewAccount, 'role'>): Promise<Account> =>
      serially(async () => {
        await users.catchUp();
        if (!accounts.isFirstMissing()) throw linkUsed();
        const account = await add({ name, role: 'Admin', password }, name);
        const version = account.setting?.version ?? 0;
        const isEarlier = ({ role, setting }: Account): boolean =>
          role === 'Admin' && setting !== undefined && setting.version < version;
        if (!accounts.list().some(isEarlier)) return account;
        await users.delete(name, ownSender, [version]);
        throw linkUsed();
      }),
    /**
     * Replaces role and password. Without a password, keeps the old password. Rejects a user's change of their own
     * password, because `changePassword` is for that.
     */
    change: async (
      name: string,
      given: { role: Role; password?: string | undefined },
      by: string,
      expected?: readonly number[],
    ): Promise<Account> => {
      if (name === by && given.password !== undefined) {
        throw new HttpError('wrong-state', 'Change your own password with PUT /api/account/password');
      }
      return serially(() => change(name, given, by, expected));
    },
    /** Throws an HttpError if this server does not store the password of the account. */
    requireChangeable: (name: string): void => {
      if (!accounts.find(name)) {
        throw new HttpError(
          'wrong-state',
          "This token does not belong to an account on this server: change the password at the token's issuer",
        );
      }
      requireRuntime(name);
    },
    /** Changes the password of a user. The current password must have been checked. */
    changePassword: (name: string, password: string): Promise<Account> =>
      serially(() => change(name, { role: requireRuntime(name).role, password }, name)),
    remove: (name: string, by: string, expected?: readonly number[]): Promise<Account> =>
      serially(async () => {
        const account = requireRuntime(name);
        assertVersion(account, expected);
        if (account.role === 'Admin') assertOthers(name, 'create another administrator before you delete this one');
        // Tokens are revoked first, so a crash never leaves a valid token of a deleted user.
        await endSessions(name, by);
        await removeOwned(name, by);
        await users.delete(name, by, expected ?? [account.setting?.version ?? 0]);
        return account;
      }),
    endSessions,
  };
};
