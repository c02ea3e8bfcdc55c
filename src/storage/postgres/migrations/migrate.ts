import type { Connection, Row, Statement } from '../connecting/connection.ts';
import { isMissing, LastingProblem } from '../connecting/database-errors.ts';
import { tables } from './1-tables.ts';
import { incidentTables } from './2-incidents.ts';

/** In their order, each with the oldest version that can use the schema after it. They only add. */
const migrations = [
  { version: 1, readableBy: 1, text: tables },
  { version: 2, readableBy: 1, text: incidentTables },
];

/** The version of the schema that this program knows. */
export const knownVersion = migrations.length;

const selectVersion: Statement = { text: 'SELECT version, readable_by AS "readableBy" FROM signalbox.schema' };

/** Begins a transaction in which nobody else changes the schema. The number stands for signalbox. */
const begin: Statement[] = [
  { text: 'BEGIN; SET LOCAL lock_timeout = 2500; SELECT pg_advisory_xact_lock(7374)' },
  { text: 'CREATE SCHEMA IF NOT EXISTS signalbox' },
  {
    text: `CREATE TABLE IF NOT EXISTS signalbox.schema
      (one boolean PRIMARY KEY DEFAULT true CHECK (one), version int NOT NULL, readable_by int NOT NULL)`,
  },
  { text: 'INSERT INTO signalbox.schema (version, readable_by) VALUES (0, 0) ON CONFLICT DO NOTHING' },
];

/**
 * Brings the schema up to date; any number of instances may do that at once. Throws a LastingProblem for one that only a
 * newer program can use.
 */
export const migrate = async (connection: Connection): Promise<void> => {
  const found = await connection.query(selectVersion).catch(passIfMissing);
  if (listMissing(found).length === 0) return;
  await runAll(connection, begin);
  const missing = listMissing(await connection.query(selectVersion));
  const store = (version: number, readableBy: number): Statement => ({
    text: 'UPDATE signalbox.schema SET version = $1, readable_by = $2',
    values: [version, readableBy],
  });
  await runAll(connection, [
    ...missing.flatMap(({ version, readableBy, text }) => [{ text }, store(version, readableBy)]),
    { text: 'COMMIT' },
  ]);
};

/** The version of the schema, whose table exists. Throws a LastingProblem for one that only a newer program can use. */
export const readVersion = async (connection: Connection): Promise<number> =>
  toVersion(await connection.query(selectVersion));

const listMissing = (found: readonly Row[]) => {
  const version = toVersion(found);
  return migrations.filter((each) => each.version > version);
};

const toVersion = ([found]: readonly Row[]): number => {
  const { version, readableBy } = found ?? { version: 0, readableBy: 0 };
  if (readableBy <= knownVersion) return version;
  throw new LastingProblem(
    `its tables are of version ${version}, and this program knows ${knownVersion}: upgrade signalbox`,
  );
};

/** No row where there is no table, or schema, yet. */
const passIfMissing = (error: Error): Row[] => {
  if (isMissing(error)) return [];
  throw error;
};

const runAll = async (connection: Connection, statements: readonly Statement[]): Promise<void> => {
  for (const outcome of await connection.run(statements)) if ('error' in outcome) throw outcome.error;
};
