import { type Common, compareCommon } from './common.ts';
import { readPostgresUrl } from './connecting/address.ts';
import type { Connection } from './connecting/connection.ts';
import { findLastingProblem, LastingProblem, missingRights } from './connecting/database-errors.ts';
import { Primary } from './connecting/primary.ts';
import { knownVersion, readVersion } from './migrations/migrate.ts';

/** Versions of the tables in a database. */
interface Plan {
  /** Undefined if there are none yet. */
  found: number | undefined;
  /** The version that a start would bring them to. */
  known: number;
}

/**
 * What a start would do to the database, in a transaction that cannot write. Throws a LastingProblem where a start would
 * refuse it; any other error passes.
 */
export const readPlan = async (url: string, common: Common): Promise<Plan> => {
  try {
    const connection = await new Primary(readPostgresUrl(url)).connect();
    try {
      await connection.query({ text: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' });
      return await read(connection, common);
    } finally {
      connection.close();
    }
  } catch (error) {
    throw findLastingProblem(error) ?? error;
  }
};

const read = async (connection: Connection, common: Common): Promise<Plan> => {
  const [state] = await connection.query({
    text: `SELECT to_regclass('signalbox.schema') IS NOT NULL AS "hasSchema",
      to_regclass('signalbox.shared') IS NOT NULL AS "hasShared",
      has_database_privilege(current_database(), 'CREATE') AS "mayCreate"`,
  });
  const found = state.hasSchema ? await readVersion(connection) : undefined;
  if ((found ?? 0) < knownVersion && !state.mayCreate) throw new LastingProblem(missingRights);
  if (state.hasShared) await compareCommon(connection, common);
  return { found, known: knownVersion };
};
