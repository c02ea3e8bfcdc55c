import { randomBytes } from 'node:crypto';
import { hashPassword } from '../../auth/password.ts';
import { AccountsUnknown, type Role, type TokenGrant, toGeneration } from '../../auth/token.ts';
import { ownSender } from '../../kit/alert-record.ts';
import type { Parts, RandomSecrets } from '../../kit/feature.ts';
import type { AccountMemory } from './account-memory.ts';
import type { SessionEnds, StoredSessionEnd } from './session-ends.ts';
import type { Account, UserSettingKeeper } from './user-kind.ts';
import type { User, UserSettings } from './users.ts';

/** Number of random bytes in a password. The password is 16 characters long. */
const passwordBytes = 12;

interface AccountParts extends Pick<Parts, 'log'> {
  secrets: RandomSecrets;
  /** Runtime users. */
  users: UserSettingKeeper;
  sessionEnds: SessionEnds;
  /** Configured accounts at the last startup. Undefined if no token outlives the process. */
  memory: AccountMemory | undefined;
}

export type Accounts = ReturnType<typeof createAccounts>;

/**
 * Creates the accounts: runtime users and configured users. If both have the same name, the configured user wins. If no
 * Admin is configured, `admin` and `reader` exist with random passwords. There are no accounts before `load` is called.
 * The tokens of users who are removed, or who get another role or password, are revoked, even if the config file
 * changed while the server was stopped.
 */
export const createAccounts = ({ secrets, users: runtime, sessionEnds, memory, log }: AccountParts) => {
  let given: UserSettings = {};
  let accounts = new Map<string, Account>();
  /** Users whose random passwords have been announced. */
  const announced = new Set<string>();
  /** Revocation marks that are not stored yet, by name. Each mark is part of the generation. */
  const unstoredMarks = new Map<string, string>();
  /**
   * True once the configured accounts have been compared with those at the last startup. The comparison needs all
   * accounts.
   */
  let isCompared = memory === undefined;
  const listeners: (() => void)[] = [];
  const isRead = (): boolean => runtime.isRead;
  const hasAdmin = (): boolean =>
    given.users !== undefined ||
    [...accounts.values()].some(({ role, origin }) => role === 'Admin' && origin !== 'temporary');
  const listConfigured = (): Account[] => {
    const { users, adminPassword, readerPassword } = given;
    if (users) return users.map(toListed);
    return [
      ...(adminPassword === undefined ? [] : [toBuiltIn('admin', 'Admin', 'config', adminPassword)]),
      ...(readerPassword === undefined ? [] : [toBuiltIn('reader', 'Reader', 'config', readerPassword)]),
    ];
  };
  /** Lists runtime and configured accounts. If both have the same name, the configured account wins. */
  const listPermanent = (): Account[] => {
    const configured = listConfigured();
    return [...runtime.list().filter(({ name }) => !configured.some((one) => one.name === name)), ...configured];
  };
  const listTemporary = (permanent: readonly Account[]): { name: string; role: Role; password: string }[] => {
    // Even if only admin has a configured password, reader gets a random password, as the API specifies.
    const isSettled = given.users !== undefined || permanent.some(({ setting, role }) => setting && role === 'Admin');
    if (isSettled || !isRead()) return [];
    return (['admin', 'reader'] as const)
      .filter((name) => !permanent.some((one) => one.name === name))
      .map((name) => ({
        name,
        role: name === 'admin' ? 'Admin' : 'Reader',
        password: secrets.get(`${name}Password`, passwordBytes),
      }));
  };
  /**
   * Refuses all tokens of a name immediately, and stores the revocation, so that the tokens are still refused after a
   * restart.
   */
  const revoke = async (name: string): Promise<void> => {
    const mark = `x${randomBytes(6).toString('base64url')}`;
    unstoredMarks.set(name, mark);
    await sessionEnds.put(name, ownSender, false).catch((err) => {
      log.warn({ err }, 'login: the revocation of tokens could not be stored');
      throw err;
    });
    if (unstoredMarks.get(name) === mark) unstoredMarks.delete(name);
  };

  /**
   * Lists the accounts to remember. Leaves out temporary accounts: their random passwords change with each startup, and
   * that change must not revoke anything.
   */
  const listRemembered = () =>
    [...accounts.values()]
      .filter(({ setting }) => !setting)
      .map(({ name, role, origin, checked }) => ({ name, checked: origin === 'temporary' ? role : checked }));

  const revokeChanged = (before: ReadonlyMap<string, Account>): void => {
    const changed = [...before.values()].filter(({ name, checked, origin, setting }) => {
      const now = accounts.get(name);
      if (now?.checked === checked && now.origin === origin) return false;
      // A runtime account's generation changes with its setting.
      return !setting || (now !== undefined && now.origin !== 'made');
    });
    const isComplete = isRead();
    const differing = !memory || isCompared || !isComplete ? [] : memory.listChanged(listRemembered());
    isCompared ||= isComplete;
    const names = new Set([...changed.map(({ name }) => name), ...differing]);
    const revoked = Promise.all([...names].map(revoke));
    // Revocations must be stored before the accounts.
    if (isComplete) memory?.store(listRemembered(), revoked);
    revoked.catch(() => undefined);
  };

  const isForeign = (name: string, end: StoredSessionEnd | undefined): boolean =>
    end?.value.isForeign === true && !unstoredMarks.has(name) && !runtime.findStored(name);

  /** @throws AccountsUnknown if the accounts and revocations in the database have not been read yet */
  const findGrant = (name: string): TokenGrant | undefined => {
    if (!isRead()) throw new AccountsUnknown();
    const account = accounts.get(name);
    const end = sessionEnds.find(name);
    const mark = unstoredMarks.get(name);
    if (account) {
      const { role } = account;
      return { role, generation: findGeneration(account, end, mark), notBefore: Number.POSITIVE_INFINITY };
    }
    if (!end && mark === undefined && !runtime.findStored(name)) return undefined;
    const { notBefore } = end?.value ?? {};
    return {
      role: undefined,
      generation: undefined,
      notBefore: isForeign(name, end) && typeof notBefore === 'number' ? notBefore : Number.POSITIVE_INFINITY,
    };
  };

  /** Recomputes the accounts. Returns the lines about random passwords for the start message. */
  const renew = (): string[] => {
    const permanent = listPermanent();
    const temporary = listTemporary(permanent);
    const before = accounts;
    const all = [
      ...temporary.map(({ name, role, password }) => toBuiltIn(name, role, 'temporary', password)),
      ...permanent,
    ];
    accounts = new Map(all.map((account) => [account.name, reuseHash(account, before.get(account.name))]));
    revokeChanged(before);
    const added = temporary.filter(({ name }) => !announced.has(name));
    for (const { name } of added) announced.add(name);
    if (secrets.file === undefined) {
      return added.map(({ name, password }) => `Password of ${name} for this run: ${password}`);
    }
    const names = added.map(({ name }) => name).join(' and ');
    return added.length === 0 ? [] : [`Password${added.length > 1 ? 's' : ''} of ${names}: see ${secrets.file}`];
  };
  const callListeners = (): void => {
    for (const listener of listeners) listener();
  };
  runtime.onChanged(() => {
    renew();
    callListeners();
  });
  sessionEnds.onChanged(callListeners);
  return {
    find: (name: string): Account | undefined => accounts.get(name),
    findGrant,
    /** Lists all accounts by name. */
    list: (): Account[] => [...accounts.values()].sort((one, other) => (one.name < other.name ? -1 : 1)),
    /** Replaces the configured accounts. Returns the lines about random passwords for the start message. */
    load: ({ users, adminPassword, readerPassword }: UserSettings): string[] => {
      given = {
        ...(users && { users }),
        ...(adminPassword !== undefined && { adminPassword }),
        ...(readerPassword !== undefined && { readerPassword }),
      };
      return renew();
    },
    /** True if no configured or runtime account is an Admin. */
    isFirstMissing: (): boolean => isRead() && !hasAdmin(),
    /** True if the database has not been read yet and may contain an Admin. */
    isUnknown: (): boolean => !isRead() && !hasAdmin(),
    /** Calls the listener when runtime accounts change or when sessions are ended. */
    onChanged: (listener: () => void): void => void listeners.push(listener),
  };
};

/**
 * Returns the generation that an account's tokens must have. Undefined until a configured account's first revocation.
 */
const findGeneration = (
  { origin, setting }: Account,
  end: StoredSessionEnd | undefined,
  mark: string | undefined,
): string | undefined => {
  const last = setting && end && end.version > setting.version ? end : (setting ?? end);
  if (!last && mark === undefined) return undefined;
  return toGeneration(
    origin === 'made' ? 'm' : 'c',
    last?.version ?? 0,
    `${(last?.at ?? 0).toString(36)}${mark ?? ''}`,
  );
};

/**
 * Returns the account, with the hash of the previous account if the password is unchanged. Each password is thus hashed
 * only once.
 */
const reuseHash = (account: Account, before: Account | undefined): Account =>
  before?.checked === account.checked && before.origin === account.origin && !account.setting ? before : account;

const toBuiltIn = (name: string, role: Role, origin: Account['origin'], password: string): Account => {
  let hash: Promise<string> | undefined;
  return { name, role, origin, checked: `${role} ${password}`, readHash: () => (hash ??= hashPassword(password)) };
};

const toListed = ({ name, role, passwordHash }: User): Account => ({
  name,
  role,
  origin: 'config',
  checked: `${role} ${passwordHash}`,
  readHash: () => passwordHash,
});
