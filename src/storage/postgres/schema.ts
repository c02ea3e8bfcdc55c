import { createHmac } from 'node:crypto';
import { readPostgresUrl } from './address.ts';
import { type Connection, Primary, type Statement } from './connection.ts';
import { findLastingProblem, isMissing, LastingProblem, missingRights } from './database-errors.ts';
import { incidentTables, tables } from './tables.ts';

/** In their order, each with the oldest version that can use the schema after it. They only add. */
const migrations = [
  { version: 1, readableBy: 1, text: tables },
  { version: 2, readableBy: 1, text: incidentTables },
];

/** The version of the schema that this program knows. */
const knownVersion = migrations.length;

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
  const found = await readVersion(connection).catch((error) => {
    if (isMissing(error)) return 0;
    throw error;
  });
  if (found >= knownVersion) return;
  await runAll(connection, begin);
  const current = await readVersion(connection);
  const missing = migrations.filter(({ version }) => version > current);
  await runAll(connection, [
    ...missing.flatMap(({ version, readableBy, text }) => [
      { text },
      { text: 'UPDATE signalbox.schema SET version = $1, readable_by = $2', values: [version, readableBy] },
    ]),
    { text: 'COMMIT' },
  ]);
};

/** The version of the schema, whose table exists. Throws a LastingProblem for one that only a newer program can use. */
const readVersion = async (connection: Connection): Promise<number> => {
  const [row] = await connection.query({ text: 'SELECT version, readable_by AS "readableBy" FROM signalbox.schema' });
  const { version, readableBy } = row ?? { version: 0, readableBy: 0 };
  if (readableBy <= knownVersion) return version;
  throw new LastingProblem(
    `its tables are of version ${version}, and this program knows ${knownVersion}: upgrade signalbox`,
  );
};

const runAll = async (connection: Connection, statements: readonly Statement[]): Promise<void> => {
  for (const outcome of await connection.run(statements)) if ('error' in outcome) throw outcome.error;
};

/** What all instances of a database have in common. */
export interface Common {
  /** The key that signs tokens. */
  secret: string;
  /** The time zone of times without one, e.g. `Europe/Berlin`. */
  timeZone: string;
}

/** The first instance of a database says what the others must have in common with it. Throws a LastingProblem. */
export const claimCommon = async (connection: Connection, common: Common): Promise<void> => {
  if (await compareCommon(connection, common)) return;
  await connection.query({
    text: 'INSERT INTO signalbox.shared (secret, time_zone) VALUES ($1, $2) ON CONFLICT DO NOTHING',
    values: [toMark(common), common.timeZone],
  });
  await compareCommon(connection, common);
};

/** False if no instance has used the database yet. Throws a LastingProblem if the others have something else. */
const compareCommon = async (connection: Connection, common: Common): Promise<boolean> => {
  const [row] = await connection.query({ text: 'SELECT secret, time_zone AS "timeZone" FROM signalbox.shared' });
  if (!row) return false;
  if (row.secret !== toMark(common)) {
    throw new LastingProblem('its other instances use another jwtSecret: set the same');
  }
  if (row.timeZone === common.timeZone) return true;
  throw new LastingProblem(`its other instances use the time zone ${row.timeZone}: set timeZone to that`);
};

/** The secret itself is not stored. */
const toMark = ({ secret }: Common): string => createHmac('sha256', secret).update('signalbox').digest('base64url');

/** Versions of the tables in a database: the one that it has, if any, and the one that a start would bring it to. */
interface SchemaPlan {
  found: number | undefined;
  known: number;
}

/**
 * What a start would do to the database, in a transaction that cannot write. Throws a LastingProblem where a start would
 * refuse it; any other error passes.
 */
export const readPlan = async (url: string, common: Common): Promise<SchemaPlan> => {
  let connection: Connection | undefined;
  try {
    connection = await new Primary(readPostgresUrl(url)).connect();
    await connection.query({ text: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' });
    const [state] = await connection.query({
      text: `SELECT to_regclass('signalbox.schema') IS NOT NULL AS "hasSchema",
        to_regclass('signalbox.shared') IS NOT NULL AS "hasShared",
        has_database_privilege(current_database(), 'CREATE') AS "mayCreate"`,
    });
    const found = state.hasSchema ? await readVersion(connection) : undefined;
    if ((found ?? 0) < knownVersion && !state.mayCreate) throw new LastingProblem(missingRights);
    if (state.hasShared) await compareCommon(connection, common);
    return { found, known: knownVersion };
  } catch (error) {
    throw findLastingProblem(error) ?? error;
  } finally {
    connection?.close();
  }
};
