import { findHashProblem, hashPassword } from '../../auth/password.ts';
import { type Role, roles, type Tokens } from '../../auth/token.ts';
import type { RandomSecrets } from '../feature.ts';
import type { MadeSetting, SettingStore } from '../offers.ts';
import type { User, UserSettings } from './users.ts';

/** Kinds of settings made at run time: users, and until when the tokens of a user count for nothing. */
export const userKind = 'user';
export const sessionEndKind = 'session-end';

export interface SessionEnd {
  /** Tokens of the user up to this second of Unix time are refused. */
  notBefore: number;
}

/** A user that was made at run time, as it is stored. */
export type StoredUser = Pick<User, 'role' | 'passwordHash'> & SessionEnd;

/** Of random passwords: 16 characters. */
const passwordBytes = 12;

export interface Account {
  name: string;
  role: Role;
  /** `temporary`: admin and reader with random passwords, until somebody makes an account. */
  origin: 'config' | 'made' | 'temporary';
  /** The setting of one that was made at run time. */
  made?: MadeSetting<StoredUser>;
  /** Role and password, or its hash: what a login checks. */
  checked: string;
  /** Built-in accounts hash their password with the first login: hashing on startup would delay the first response. */
  readHash(): Promise<string> | string;
}

interface AccountParts {
  secrets: RandomSecrets;
  tokens: Pick<Tokens, 'revoke' | 'findRevocation'>;
  /** Undefined where nothing can be made at run time. */
  settings: Pick<SettingStore, 'list' | 'onChanged' | 'isRead'> | undefined;
  /** Called for users whose tokens up to a second were revoked, where nothing that is stored says so. */
  onRevoked(name: string, until: number): void;
}

export type Accounts = ReturnType<typeof createAccounts>;

/**
 * The accounts of the settings, and those that were made at run time, whose names the settings do not have. Without an
 * account for an Admin among them, there are `admin` and `reader` with random passwords. Starts without any, until `load`.
 * The tokens of users that are removed, or get another role or password, are revoked.
 */
export const createAccounts = ({ secrets, tokens, settings, onRevoked }: AccountParts) => {
  let given: UserSettings = {};
  let accounts = new Map<string, Account>();
  /** Users whose random passwords were announced. */
  const announced = new Set<string>();
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
    const made = settings?.list<StoredUser>(userKind).filter(isUsable).map(toMade) ?? [];
    const configured = listConfigured();
    return [...made.filter(({ name }) => !configured.some((one) => one.name === name)), ...configured];
  };
  const listTemporary = (lasting: readonly Account[]): { name: string; role: Role; password: string }[] => {
    // With a password of admin alone in the settings, reader still gets a random one, as the API specifies.
    const isSettled = given.users !== undefined || lasting.some(({ made, role }) => made && role === 'Admin');
    if (isSettled || !isRead()) return [];
    return (['admin', 'reader'] as const)
      .filter((name) => !lasting.some((one) => one.name === name))
      .map((name) => ({
        name,
        role: name === 'admin' ? 'Admin' : 'Reader',
        password: secrets.get(`${name}Password`, passwordBytes),
      }));
  };
  const revokeChanged = (before: ReadonlyMap<string, Account>): void => {
    for (const { name, checked, made, origin } of before.values()) {
      const now = accounts.get(name);
      // One that was made says itself from when on its tokens count, but not what the settings gave its name meanwhile.
      if (now?.checked === checked || (now?.made && origin !== 'config')) continue;
      const until = tokens.findRevocation(name);
      tokens.revoke(name, until);
      if (!made || now) onRevoked(name, until);
    }
    // Those from before the change, also if that was before this start.
    for (const { name, made } of accounts.values()) {
      if (made && before.get(name)?.made?.version !== made.version) tokens.revoke(name, made.value.notBefore);
    }
  };
  const endSessions = (): void => {
    for (const { name, value } of settings?.list<SessionEnd>(sessionEndKind) ?? []) {
      if (Number.isSafeInteger(value.notBefore)) tokens.revoke(name, value.notBefore);
    }
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
  endSessions();
  settings?.onChanged(userKind, () => {
    renew();
    tell();
  });
  settings?.onChanged(sessionEndKind, () => {
    endSessions();
    tell();
  });
  return {
    find: (name: string): Account | undefined => accounts.get(name),
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

/** Hashing is not repeated where nothing has changed. */
const keepHash = (account: Account, before: Account | undefined): Account =>
  before?.checked === account.checked && before.origin === account.origin && !account.made ? before : account;

/** One that another version has stored may be of no use here. */
const isUsable = ({ value }: MadeSetting<StoredUser>): boolean =>
  roles.includes(value?.role) &&
  Number.isSafeInteger(value.notBefore) &&
  typeof value.passwordHash === 'string' &&
  findHashProblem(value.passwordHash) === undefined;

const toBuiltIn = (name: string, role: Role, origin: Account['origin'], password: string): Account => {
  let hash: Promise<string> | undefined;
  return { name, role, origin, checked: `${role} ${password}`, readHash: () => (hash ??= hashPassword(password)) };
};

const toListed = ({ name, role, passwordHash }: User): Account => ({
  ...{ name, role, origin: 'config', checked: `${role} ${passwordHash}` },
  readHash: () => passwordHash,
});

const toMade = (made: MadeSetting<StoredUser>): Account => {
  const { role, passwordHash } = made.value;
  return {
    ...{ name: made.name, role, origin: 'made', made, checked: `${role} ${passwordHash}` },
    readHash: () => passwordHash,
  };
};
