import { findHashProblem, hashPassword, maximumPasswordBytes } from '../../auth/password.ts';
import type { Role } from '../../auth/token.ts';
import type { RandomSecrets } from '../feature.ts';
import type { User } from './schema.ts';

/** Of random passwords: 16 characters. */
const passwordBytes = 12;

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

/**
 * Starts without accounts; `load` adds those of `users`, or else admin and reader. `revoke` is called for each user that is
 * removed then, or has another role or password.
 */
export const createAccounts = (secrets: RandomSecrets, revoke: (name: string) => void) => {
  let accounts = new Map<string, Account>();
  /** Role and password, or its hash, by user name: what a login has checked. */
  let checked = new Map<string, string>();
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
      const nowChecked = new Map<string, string>();
      const createBuiltIn = (name: string, role: Role, password = getRandomPassword(name)): Account => {
        let hash: Promise<string> | undefined;
        nowChecked.set(name, `${role} ${password}`);
        return { name, role, readHash: () => (hash ??= hashPassword(password)) };
      };
      const createListed = ({ name, role, passwordHash }: User): Account => {
        nowChecked.set(name, `${role} ${passwordHash}`);
        return { name, role, readHash: () => passwordHash };
      };
      const list = users?.map(createListed) ?? [
        createBuiltIn('admin', 'Admin', adminPassword),
        createBuiltIn('reader', 'Reader', readerPassword),
      ];
      accounts = new Map(list.map((account) => [account.name, account]));
      for (const [name, before] of checked) if (nowChecked.get(name) !== before) revoke(name);
      checked = nowChecked;
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
