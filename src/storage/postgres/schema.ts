import { createHmac } from 'node:crypto';
import { readPostgresUrl } from './address.ts';
import { type Connection, Primary, type Statement } from './connection.ts';
import {
  findPermanentProblem,
  foreignTables,
  isForbidden,
  isMissing,
  missingRights,
  PermanentProblem,
} from './database-errors.ts';
import { knownVersion, migrations } from './migrations.ts';

/**
 * Statements that begin a transaction and lock the schema against other instances. The number of the lock is arbitrary.
 */
const begin: Statement[] = [
  { text: 'BEGIN; SET LOCAL lock_timeout = 2500; SELECT pg_advisory_xact_lock(7374)' },
  { text: 'CREATE SCHEMA IF NOT EXISTS signalbox' },
  {
    text: `CREATE TABLE IF NOT EXISTS signalbox.schema
      (one boolean PRIMARY KEY DEFAULT true CHECK (one), version int NOT NULL, readable_by int NOT NULL)`,
  },
  { text: 'INSERT INTO signalbox.schema (version, readable_by) VALUES (0, 0) ON CONFLICT DO NOTHING' },
];

/** Time limit of a migration. Creating tables can take seconds on a slow disk. */
const stepMs = 30_000;

/**
 * Runs the migrations that the database lacks. Any number of instances may do so concurrently. Rejects with a
 * PermanentProblem if only a newer version can use the tables.
 */
export const migrate = async (
  connection: Connection,
  onMigrated: (done: number, total: number) => void = () => undefined,
): Promise<void> => {
  const found = await readVersion(connection).catch((error) => {
    if (isMissing(error)) return 0;
    throw error;
  });
  if (found >= knownVersion) return;
  await runAll(connection, begin);
  const current = await readVersion(connection);
  const missing = migrations.filter(({ version }) => version > current);
  // Runs one migration at a time, to report progress.
  for (const [done, { version, readableBy, text, limitMs = stepMs }] of missing.entries()) {
    onMigrated(done, missing.length);
    // Row deletion may have raised `readable_by`.
    const note = {
      text: 'UPDATE signalbox.schema SET version = $1, readable_by = greatest(readable_by, $2)',
      values: [version, readableBy],
    };
    await runAll(connection, [{ text }, note], limitMs).catch((error) => {
      throw current > 0 && isForbidden(error) ? new PermanentProblem(foreignTables, { cause: error }) : error;
    });
  }
  await runAll(connection, [{ text: 'COMMIT' }]);
  if (missing.length > 0) onMigrated(missing.length, missing.length);
};

/** Resolves to the version of the tables. Rejects with a PermanentProblem if only a newer version can use them. */
export const readVersion = async (connection: Connection): Promise<number> => {
  const [row] = await connection.query({ text: 'SELECT version, readable_by AS "readableBy" FROM signalbox.schema' });
  const { version, readableBy } = row ?? { version: 0, readableBy: 0 };
  if (readableBy <= knownVersion) return version;
  throw new PermanentProblem(
    `the tables have version ${version}, but this version of signalbox supports only tables up to version ${knownVersion}: upgrade signalbox`,
  );
};

/** Runs statements in order. Throws the first error. */
export const runAll = async (
  connection: Connection,
  statements: readonly Statement[],
  limitMs?: number,
): Promise<void> => {
  for (const outcome of await connection.run(statements, limitMs)) if ('error' in outcome) throw outcome.error;
};

/** Settings that all instances of a database share. */
export interface Common {
  /** Key that signs tokens. */
  secret: string;
  /** Time zone for times without an offset, e.g. `Europe/Berlin`. */
  timeZone: string;
}

/**
 * Stores the shared settings of the first instance, and compares every later instance's settings with them. Rejects
 * with a PermanentProblem if they differ.
 */
export const claimCommon = async (connection: Connection, common: Common): Promise<void> => {
  if (await compareCommon(connection, common)) return;
  await connection.query({
    text: 'INSERT INTO signalbox.shared (secret, time_zone) VALUES ($1, $2) ON CONFLICT DO NOTHING',
    values: [toSecretMark(common), common.timeZone],
  });
  await compareCommon(connection, common);
};

/** Resolves to false if no instance has used the database yet. Rejects with a PermanentProblem if the settings differ. */
const compareCommon = async (connection: Connection, common: Common): Promise<boolean> => {
  const [row] = await connection.query({ text: 'SELECT secret, time_zone AS "timeZone" FROM signalbox.shared' });
  if (!row) return false;
  if (row.secret !== toSecretMark(common)) {
    throw new PermanentProblem('the other instances use another jwtSecret: set the same jwtSecret here');
  }
  if (row.timeZone === common.timeZone) return true;
  throw new PermanentProblem(`the other instances use another time zone: set timeZone to ${row.timeZone}`);
};

/** Returns a hash of the secret. The secret itself is not stored. */
const toSecretMark = ({ secret }: Common): string =>
  createHmac('sha256', secret).update('signalbox').digest('base64url');

interface SchemaPlan {
  /** Current version of the tables. Undefined without tables. */
  found: number | undefined;
  /** Version of the tables after startup. */
  known: number;
}

/**
 * Resolves to the migration that startup would run. Writes nothing. Rejects with a PermanentProblem if startup would
 * refuse the database. Rethrows other errors.
 */
export const readPlan = async (url: string, common: Common): Promise<SchemaPlan> => {
  let connection: Connection | undefined;
  try {
    connection = await new Primary(readPostgresUrl(url)).connect();
    await connection.query({ text: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' });
    const [state] = await connection.query({
      text: `SELECT to_regclass('signalbox.schema') IS NOT NULL AS "hasSchema",
        to_regclass('signalbox.shared') IS NOT NULL AS "hasShared",
        has_database_privilege(current_database(), 'CREATE') AS "mayCreate",
        NOT EXISTS (SELECT FROM pg_tables WHERE schemaname = 'signalbox' AND NOT pg_has_role(tableowner, 'USAGE')) AS "isOwner"`,
    });
    const found = state.hasSchema ? await readVersion(connection) : undefined;
    if ((found ?? 0) < knownVersion && !state.mayCreate) throw new PermanentProblem(missingRights);
    if ((found ?? 0) < knownVersion && !state.isOwner) throw new PermanentProblem(foreignTables);
    if (state.hasShared) await compareCommon(connection, common);
    return { found, known: knownVersion };
  } catch (error) {
    throw findPermanentProblem(error) ?? error;
  } finally {
    connection?.close();
  }
};
