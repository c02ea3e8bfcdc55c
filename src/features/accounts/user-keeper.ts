import { hashPassword } from '../../auth/password.ts';
import { findWeakness } from '../../auth/password-strength.ts';
import { type Role, toSecond } from '../../auth/token.ts';
import { HttpError, requireKnown } from '../../http/errors.ts';
import { ownSender } from '../../kit/alert-record.ts';
import type { Parts } from '../../kit/feature.ts';
import type { PutOptions, RuntimeSetting, SettingStore } from '../../kit/offers.ts';
import { StoreConflict } from '../../lib/expected-errors.ts';
import { createSerial } from '../../lib/scheduling.ts';
import { type Account, type Accounts, type SessionEnd, type StoredUser, sessionEndKind, userKind } from './accounts.ts';

/** Bounds of users made at run time. */
const limits: PutOptions = { most: { count: 1000, plural: 'users' }, isCaseless: true };

/** Changes that take rights away. */
const revocation: PutOptions = { isRevocation: true };

/** Names of users and keys that are made at run time, which are in paths. */
export const accountNameForm = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/;

/** Names without an account whose ends of sessions are remembered, whatever the clock: tokens of them must stay refused. */
const mostEnded = 20_000;

export interface NewAccount {
  name: string;
  role: Role;
  password: string;
}

/** Stores a new user. Rejects with an HttpError for what cannot be used, 409 for one that exists. */
export const addUser = async (
  settings: SettingStore,
  { name, role, password }: NewAccount,
  by: string,
  clock: () => Date,
): Promise<void> => {
  assertUserName(name);
  assertStrong(name, password);
  const names = settings.list(userKind).map((one) => one.name);
  const taken = names.find((one) => one.toLowerCase() === name.toLowerCase());
  if (taken !== undefined) throw new HttpError('wrong-state', `There is a user ${taken}: choose another name`);
  const value: StoredUser = { role, passwordHash: await hashPassword(password), notBefore: toSecond(clock()) };
  await settings.put(userKind, name, value, by, [0], limits).catch((error) => {
    if (!(error instanceof StoreConflict)) throw error;
    throw new HttpError('wrong-state', `There is a user ${name}: choose another name`);
  });
};

/** @throws HttpError */
const assertUserName = (name: string): void => {
  if (!accountNameForm.test(name) || name.toLowerCase() === ownSender) {
    throw new HttpError(
      'invalid',
      `name must have up to 64 letters, digits, ".", "_", "@" and "-", begin with a letter or digit, and not be ${ownSender}`,
    );
  }
};

/** @throws HttpError */
const assertStrong = (name: string, password: string): void => {
  const weakness = findWeakness(password, name);
  if (weakness !== undefined) throw new HttpError('invalid', `password ${weakness}`);
};

/** Of the link that makes the first account. */
export const linkUsed = (): HttpError =>
  new HttpError('forbidden', 'The link was used, or there is an account: log in');

export type UserKeeper = ReturnType<typeof createUserKeeper>;

/** Changes users one after the other, so that two changes cannot remove the last two administrators. */
export const createUserKeeper = (accounts: Accounts, settings: SettingStore, { clock }: Pick<Parts, 'clock'>) => {
  const serially = createSerial();
  const requireMade = (name: string): Account => {
    const account = requireKnown(accounts.find(name), 'User', name, '/api/users');
    if (account.origin === 'made') return account;
    throw new HttpError(
      'wrong-state',
      account.origin === 'config'
        ? `User ${name} is in the settings: change it there`
        : `User ${name} lasts until there is an account: create one`,
    );
  };
  const requireFound = (name: string): Account => {
    const account = accounts.find(name);
    if (account) return account;
    throw new HttpError('wrong-state', `User ${name} has been deleted meanwhile`);
  };
  /** The server keeps an administrator: otherwise only its settings could make one. */
  const assertOthers = (name: string, change: string): void => {
    const isOther = (one: Account): boolean => one.name !== name && one.role === 'Admin' && one.origin !== 'temporary';
    if (accounts.list().some(isOther)) return;
    throw new HttpError('wrong-state', `${name} is the last administrator: ${change}`);
  };
  const assertVersion = ({ name, made }: Account, expected: readonly number[] | undefined): void => {
    const version = made?.version ?? 0;
    if (!expected || expected.includes(version)) return;
    throw new StoreConflict(`${name} has been changed: its version is ${version}`, version);
  };
  /** Refuses all tokens of a name: of an account by its generation, of another issuer up to this second. */
  const endSessions = (name: string, by: string, hadAccount = false): Promise<RuntimeSetting<SessionEnd>> => {
    const isForeign = !hadAccount && (accounts.findGrant(name) === undefined || isForeignEnd(name));
    const value: SessionEnd = { notBefore: toSecond(clock()), ...(isForeign && { isForeign }) };
    return settings.put(sessionEndKind, name, value, by, undefined, revocation);
  };
  const isForeignEnd = (name: string): boolean =>
    accounts.find(name) === undefined && settings.find<SessionEnd>(sessionEndKind, name)?.value.isForeign === true;
  const add = async (given: NewAccount, by: string): Promise<Account> => {
    const lower = given.name.toLowerCase();
    const taken = accounts.list().find((one) => one.origin === 'config' && one.name.toLowerCase() === lower);
    if (taken) throw new HttpError('wrong-state', `User ${taken.name} is in the settings: choose another name`);
    await addUser(settings, given, by, clock);
    return requireFound(given.name);
  };
  const change = async (
    name: string,
    { role, password }: { role: Role; password?: string | undefined },
    by: string,
    expected?: readonly number[],
  ): Promise<Account> => {
    const account = requireMade(name);
    const { made } = account;
    if (!made) return account;
    assertVersion(account, expected);
    if (account.role === 'Admin' && role !== 'Admin') assertOthers(name, 'make another one first');
    if (password !== undefined) assertStrong(name, password);
    // Nobody is logged out where nothing changes.
    else if (role === account.role) return account;
    const passwordHash = password === undefined ? made.value.passwordHash : await hashPassword(password);
    const value: StoredUser = { role, passwordHash, notBefore: toSecond(clock()) };
    // Never over a change of another instance that is not known here.
    await settings.put(userKind, name, value, by, expected ?? [made.version], revocation);
    return requireFound(name);
  };
  return {
    create: (given: NewAccount, by: string): Promise<Account> => serially(() => add(given, by)),
    /** Makes the administrator of a server that has none; at other instances somebody may do that, too. */
    createFirst: ({ name, password }: Omit<NewAccount, 'role'>): Promise<Account> =>
      serially(async () => {
        await settings.catchUp();
        if (!accounts.isFirstMissing()) throw linkUsed();
        const account = await add({ name, role: 'Admin', password }, name);
        const version = account.made?.version ?? 0;
        const isEarlier = ({ role, made }: Account): boolean =>
          role === 'Admin' && made !== undefined && made.version < version;
        if (!accounts.list().some(isEarlier)) return account;
        await settings.delete(userKind, name, ownSender, [version]);
        throw linkUsed();
      }),
    /** Without a password, the user keeps theirs. Users change their own password with the current one. */
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
    /** Throws an HttpError for an account whose password is not changed here. */
    requireChangeable: (name: string): void => {
      if (!accounts.find(name)) {
        throw new HttpError(
          'wrong-state',
          'The token is of no account of this server: change the password where it comes from',
        );
      }
      requireMade(name);
    },
    /** Changes the own password of a user, who has given the current one. */
    changePassword: (name: string, password: string): Promise<Account> =>
      serially(() => change(name, { role: requireMade(name).role, password }, name)),
    remove: (name: string, by: string, expected?: readonly number[]): Promise<Account> =>
      serially(async () => {
        const account = requireMade(name);
        assertVersion(account, expected);
        if (account.role === 'Admin') assertOthers(name, 'make another one before you delete this one');
        // First: a crash between the two must not leave tokens of a user who is gone.
        await endSessions(name, by);
        await settings.delete(userKind, name, by, expected ?? [account.made?.version ?? 0]);
        return account;
      }),
    endSessions,
    /** Forgets the oldest ends of sessions of names without an account; several instances may do that at once. */
    removeOld: async (): Promise<void> => {
      const gone = settings.list(sessionEndKind).filter(({ name }) => accounts.find(name) === undefined);
      const sorted = gone.sort((one, other) => one.version - other.version);
      for (const { name, version } of sorted.slice(0, Math.max(0, sorted.length - mostEnded))) {
        // Somebody may have ended them again meanwhile.
        await settings.delete(sessionEndKind, name, ownSender, [version]).catch(() => undefined);
      }
    },
  };
};
