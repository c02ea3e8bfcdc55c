import { randomBytes } from 'node:crypto';
import { hashPassword } from '../../auth/password.ts';
import { AccountsUnknown, type Role, type TokenGrant, toGeneration } from '../../auth/token.ts';
import type { RandomSecrets } from '../../kit/feature.ts';
import type { RuntimeSetting, SettingStore } from '../../kit/setting-store.ts';
import type { AccountMemory } from './account-memory.ts';
import type { Account, UserSettingKeeper } from './user-kind.ts';
import type { User, UserSettings } from './users.ts';

/** The kind of runtime settings that end all sessions of a name. They have no routes of their own, and no limits. */
export const sessionEndKind = 'session-end';

export interface SessionEnd {
  /** The second of Unix time up to which earlier versions refuse tokens of the name. */
  notBefore: number;
  /** True if the name had no account: its tokens come from another issuer, and only the time tells them apart. */
  isForeign?: boolean;
}

/** Of random passwords: 16 characters. */
const passwordBytes = 12;

interface AccountParts {
  secrets: RandomSecrets;
  /** Undefined where nothing can be made at run time. */
  settings: Pick<SettingStore, 'find' | 'onChanged' | 'isRead'> | undefined;
  /** Those made at run time. */
  users: UserSettingKeeper;
  /** The accounts of the settings at the last start; undefined if no token outlives the process. */
  memory: AccountMemory | undefined;
  /** Stores that the tokens of a name were revoked, of which the runtime settings say nothing yet. */
  storeRevocation(name: string): Promise<void>;
}

export type Accounts = ReturnType<typeof createAccounts>;

/**
 * The accounts of the settings, and those that were made at run time, whose names the settings do not have. Without an
 * account for an Admin among them, there are `admin` and `reader` with random passwords. Starts without any, until `load`.
 * The tokens of users that are removed, or get another role or password, are revoked, also by a change of the settings
 * between two starts.
 */
export const createAccounts = ({ secrets, settings, users: runtime, memory, storeRevocation }: AccountParts) => {
  let given: UserSettings = {};
  let accounts = new Map<string, Account>();
  /** Users whose random passwords were announced. */
  const announced = new Set<string>();
  /** Revocations that are not stored, or not yet: a part of the generation by name. */
  const unstored = new Map<string, string>();
  /** Settings that differ from those of the last start revoke tokens once, when all accounts are known. */
  let isCompared = memory === undefined;
  const listeners: (() => void)[] = [];
  const isRead = (): boolean => settings?.isRead() ?? true;
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
  /** Those of the settings and those made at run time; the settings win. */
  const listLasting = (): Account[] => {
    const configured = listConfigured();
    return [...runtime.list().filter(({ name }) => !configured.some((one) => one.name === name)), ...configured];
  };
  const listTemporary = (lasting: readonly Account[]): { name: string; role: Role; password: string }[] => {
    // With a password of admin alone in the settings, reader still gets a random one, as the API specifies.
    const isSettled = given.users !== undefined || lasting.some(({ setting, role }) => setting && role === 'Admin');
    if (isSettled || !isRead()) return [];
    return (['admin', 'reader'] as const)
      .filter((name) => !lasting.some((one) => one.name === name))
      .map((name) => ({
        name,
        role: name === 'admin' ? 'Admin' : 'Reader',
        password: secrets.get(`${name}Password`, passwordBytes),
      }));
  };
  /** Refuses all tokens of a name at once, and stores that. */
  const revoke = async (name: string): Promise<void> => {
    const mark = `x${randomBytes(6).toString('base64url')}`;
    unstored.set(name, mark);
    await storeRevocation(name);
    if (settings && unstored.get(name) === mark) unstored.delete(name);
  };

  /** Accounts of the settings. A temporary one has another password after each start, which revokes nothing. */
  const listRemembered = () =>
    [...accounts.values()]
      .filter(({ setting }) => !setting)
      .map(({ name, role, origin, checked }) => ({ name, checked: origin === 'temporary' ? role : checked }));

  const revokeChanged = (before: ReadonlyMap<string, Account>): void => {
    const changed = [...before.values()].filter(({ name, checked, origin, setting }) => {
      const now = accounts.get(name);
      if (now?.checked === checked && now.origin === origin) return false;
      // The generation of an account that was made at run time says so itself.
      return !setting || (now !== undefined && now.origin !== 'made');
    });
    const isComplete = isRead();
    const differing = !memory || isCompared || !isComplete ? [] : memory.listChanged(listRemembered());
    isCompared ||= isComplete;
    const names = new Set([...changed.map(({ name }) => name), ...differing]);
    const revoked = Promise.all([...names].map(revoke));
    // Only a stored revocation is remembered as done.
    if (isComplete) memory?.keep(listRemembered(), revoked);
    revoked.catch(() => undefined);
  };

  const isForeign = (name: string, end: RuntimeSetting<SessionEnd> | undefined): boolean =>
    end?.value.isForeign === true && !unstored.has(name) && !runtime.findStored(name);

  /** @throws AccountsUnknown while a database with accounts and revocations was not read */
  const findGrant = (name: string): TokenGrant | undefined => {
    if (!isRead()) throw new AccountsUnknown();
    const account = accounts.get(name);
    const end = settings?.find<SessionEnd>(sessionEndKind, name);
    const mark = unstored.get(name);
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

  /** Returns lines that say where random passwords are, or what they are. */
  const renew = (): string[] => {
    const lasting = listLasting();
    const temporary = listTemporary(lasting);
    const before = accounts;
    const all = [
      ...temporary.map(({ name, role, password }) => toBuiltIn(name, role, 'temporary', password)),
      ...lasting,
    ];
    accounts = new Map(all.map((account) => [account.name, keepHash(account, before.get(account.name))]));
    revokeChanged(before);
    const added = temporary.filter(({ name }) => !announced.has(name));
    for (const { name } of added) announced.add(name);
    if (secrets.file === undefined) {
      return added.map(({ name, password }) => `Password of ${name} for this run: ${password}`);
    }
    const names = added.map(({ name }) => name).join(' and ');
    return added.length === 0 ? [] : [`Password${added.length > 1 ? 's' : ''} of ${names}: see ${secrets.file}`];
  };
  const tell = (): void => {
    for (const listener of listeners) listener();
  };
  runtime.onChanged(() => {
    renew();
    tell();
  });
  settings?.onChanged(sessionEndKind, tell);
  return {
    find: (name: string): Account | undefined => accounts.get(name),
    findGrant,
    /** Revokes all tokens of a name where nothing can be made at run time, until the process ends. */
    revoke: (name: string): void => {
      void revoke(name);
      tell();
    },
    /** By name. */
    list: (): Account[] => [...accounts.values()].sort((one, other) => (one.name < other.name ? -1 : 1)),
    /** Replaces the accounts of the settings; returns lines that say where random passwords are, or what they are. */
    load: ({ users, adminPassword, readerPassword }: UserSettings): string[] => {
      given = {
        ...(users && { users }),
        ...(adminPassword !== undefined && { adminPassword }),
        ...(readerPassword !== undefined && { readerPassword }),
      };
      return renew();
    },
    /** Whether nobody has made an account yet that administers the server, here or in the settings. */
    isFirstMissing: (): boolean => isRead() && !hasAdmin(),
    /** Whether there may be such an account in a database that could not be read yet. */
    isUnknown: (): boolean => !isRead() && !hasAdmin(),
    /** Calls the listener when accounts were changed at run time, or sessions were ended. */
    onChanged: (listener: () => void): void => void listeners.push(listener),
  };
};

/** Undefined until the first revocation of an account of the settings. */
const findGeneration = (
  { origin, setting }: Account,
  end: RuntimeSetting<SessionEnd> | undefined,
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

/** Hashing is not repeated where nothing has changed. */
const keepHash = (account: Account, before: Account | undefined): Account =>
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
