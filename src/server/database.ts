import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { Settings } from '../config/schema.ts';
import { awaitWithin } from '../lib/scheduling.ts';
import { readOwnTimeZone } from '../lib/time-zone.ts';
import type { Meters } from '../metrics/meters.ts';
import { readPostgresUrl } from '../storage/postgres/address.ts';
import type { WriterObserver } from '../storage/postgres/change-writer.ts';
import type { Database, Patience } from '../storage/postgres/database.ts';
import { explainUnreachable, PermanentProblem } from '../storage/postgres/database-errors.ts';
import type { Common } from '../storage/postgres/schema.ts';
import { requireStore, toDatabaseRefusal } from './store.ts';

/** Milliseconds that startup waits for the database before it continues without the database. */
const patienceMs = 3000;

/** Milliseconds between two connection attempts during startup. */
const retryMs = 250;

/** Returns the name of this instance among the instances that share a database. The name is valid in a header. */
export const nameInstance = ({ instanceName, port }: Settings, hostname: string): string =>
  instanceName ?? `${hostname.replaceAll(/[^!-~]/g, '-')}:${port}`;

/**
 * Receives the progress of slow work, such as `Indexing the alert log`. The work is complete when `done` equals
 * `total`.
 */
export type OnProgress = (what: string, done: number, total: number) => void;

/** Parts that storage depends on. */
export interface StorageParts {
  /** Name of this instance. */
  name: string;
  version: string;
  log: FastifyBaseLogger;
  meters: Meters;
  /** Limits for requests that wait for an unresponsive database. Default: the usual limits. */
  patience?: Patience;
  /** Receives progress. By default, the log reports slow work. */
  onProgress?: OnProgress;
}

/**
 * Opens the database named by the setting `store`. Undefined for other stores. Throws a SettingsError if the settings
 * or the database must be changed. If the database cannot be reached, connection attempts continue while the server
 * runs.
 */
export const openDatabase = async (
  settings: Settings,
  { name, version, log, meters, patience, onProgress }: StorageParts,
): Promise<Database | undefined> => {
  const store = requireStore(settings.store);
  if (store.kind !== 'postgresql') return undefined;
  // Loaded on demand, because the driver costs memory and time.
  const { Database } = await import('../storage/postgres/database.ts');
  const identity = { instance: randomUUID(), name, version };
  const { failures, commits } = createDatabaseMeters(meters);
  const observer: WriterObserver = {
    report: (err) => {
      if (err === undefined) {
        log.info('the database is available');
        return;
      }
      failures.value += 1;
      const message = 'the database cannot be used: changes to tasks and items get 503';
      const problem = explainUnreachable(err);
      if (problem === undefined) log.warn({ err }, message);
      else log.warn(`${message}; ${listHosts(store.url)}: ${problem}`);
    },
    onRefused: (err) => log.error({ err }, 'the database refused a change'),
    onDamage: (damage) => log.error({ damage }, 'a record in the database is damaged'),
    onCommit: (seconds) => commits.observe(seconds),
    onMigrated: (done, total) => onProgress?.('Upgrading the tables in the database', done, total),
  };
  const database = new Database(store.url, identity, toCommon(settings), observer, patience);
  const { reading } = meters;
  reading('gauge', 'signalbox_database_queue_changes', 'Changes waiting for the database.', () => database.waiting);
  reading('gauge', 'signalbox_database_writable', '1 if changes are stored, 0 if they are refused.', () =>
    Number(database.failure === undefined),
  );
  try {
    await awaitWithin(patienceMs, database.check());
  } catch (error) {
    if (error instanceof PermanentProblem) {
      await database.close();
      throw toDatabaseRefusal(error.message);
    }
  }
  database.begin();
  return database;
};

/**
 * Returns the changes that startup with these settings would make to the database, as sentences without a full stop. If
 * they are unknown, returns the reason. Throws a SettingsError wherever startup would. Writes nothing.
 */
export const planDatabase = async (settings: Settings): Promise<{ plans: string[]; unchecked: string[] }> => {
  const store = requireStore(settings.store);
  if (store.kind !== 'postgresql') return { plans: [], unchecked: [] };
  const { readPlan } = await import('../storage/postgres/schema.ts');
  try {
    const { found, known } = await readPatiently(() => readPlan(store.url, toCommon(settings)));
    if (found === undefined) return { plans: ['the next start will create the tables in the database'], unchecked: [] };
    if (found >= known) return { plans: ['the tables in the database are up to date'], unchecked: [] };
    const plan = `the next start will upgrade the tables in the database from version ${found} to version ${known}`;
    return { plans: [plan], unchecked: [] };
  } catch (error) {
    if (error instanceof PermanentProblem) throw toDatabaseRefusal(error.message);
    const problem = explainUnreachable(error) ?? (error as Error).message;
    return { plans: [], unchecked: [`the database was not checked; ${listHosts(store.url)}: ${problem}`] };
  }
};

/** Retries for a while, as startup does, because a busy server may not respond immediately. */
const readPatiently = async <T>(read: () => Promise<T>): Promise<T> => {
  for (const deadline = performance.now() + patienceMs; ; await setTimeout(retryMs)) {
    try {
      return await read();
    } catch (error) {
      if (error instanceof PermanentProblem || performance.now() > deadline) throw error;
    }
  }
};

const toCommon = ({ jwtSecret = '' }: Settings): Common => ({
  secret: jwtSecret,
  timeZone: readOwnTimeZone(),
});

const listHosts = (url: string): string =>
  readPostgresUrl(url)
    .hosts.map(({ host, port }) => `${host}:${port}`)
    .join(', ');

/** Upper bounds of the buckets, in seconds. */
const commitBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

const createDatabaseMeters = (meters: Meters) => ({
  failures: meters
    .counter(
      'signalbox_database_errors_total',
      'Failures to store changes; a failure lasts until changes are stored again.',
      [],
    )
    .at(),
  commits: meters
    .histogram('signalbox_database_commit_duration_seconds', 'Time to commit waiting changes.', [], commitBounds)
    .at(),
});
