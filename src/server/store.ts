import { SettingsError } from '../config/settings-error.ts';
import { readPostgresUrl } from '../storage/postgres/address.ts';

/** Setting `store` in parsed form. */
export type Store = { kind: 'memory' | 'file' } | { kind: 'postgresql'; url: string } | { kind: 'unknown' };

/** Recognizes the address of a database by its scheme. Does not check the rest of the address. */
export const parseStore = (store: string): Store => {
  if (store === 'memory' || store === 'file') return { kind: store };
  return /^postgres(ql)?:/.test(store) ? { kind: 'postgresql', url: store } : { kind: 'unknown' };
};

/** Returns the reasons why a store can never be used, as clauses without secrets. */
export const findStoreProblems = (store: Store): string[] => {
  if (store.kind === 'unknown')
    return ['store must be memory, file or an address such as postgres://user@host/database'];
  if (store.kind !== 'postgresql') return [];
  try {
    readPostgresUrl(store.url);
    return [];
  } catch (error) {
    return [`store: ${(error as Error).message}`];
  }
};

/** Creates the error for a database that is refused. `reason` is a clause without secrets. */
export const toDatabaseRefusal = (reason: string): SettingsError =>
  new SettingsError([`store: the database cannot be used: ${reason}`]);

/** Returns the store named by the setting. Throws a SettingsError if it is unusable. */
export const requireStore = (setting: string): Exclude<Store, { kind: 'unknown' }> => {
  const store = parseStore(setting);
  const problems = findStoreProblems(store);
  if (problems.length > 0 || store.kind === 'unknown') throw new SettingsError(problems);
  return store;
};
