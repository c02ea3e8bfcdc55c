import type { Concern } from '../profiles/feature.ts';
import type { Database } from '../storage/postgres/database.ts';
import type { UnwritableLog } from './journal-opener.ts';

interface StorageState {
  database: Pick<Database, 'failure'> | undefined;
  /** The names of features whose changes cannot be stored. */
  unavailable: readonly string[];
  unwritable: readonly UnwritableLog[];
}

/** What cannot be stored at the moment: changes in the database or in files, and records of logs. */
export const findStorageConcerns = ({ database, unavailable, unwritable }: StorageState): Concern[] => {
  const stores = database?.failure
    ? ['The database cannot be used']
    : unavailable.map((name) => `Changes of ${name} cannot be stored`);
  // The log of a store was named with its feature. A destination's log has the destination in its title.
  const logs = unwritable
    .filter(({ name }) => !unavailable.includes(name))
    .map(({ title }) => `The ${title.replace(/ of .*/, '')} cannot be written`);
  return [
    ...stores.map((text): Concern => ({ area: 'stores', severity: 'CRITICAL', text })),
    ...[...new Set(logs)].map((text): Concern => ({ area: 'log', severity: 'CRITICAL', text })),
  ];
};
