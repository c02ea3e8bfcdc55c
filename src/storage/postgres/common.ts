import { createHmac } from 'node:crypto';
import type { Connection, Statement } from './connecting/connection.ts';
import { LastingProblem } from './connecting/database-errors.ts';

/** What all instances of a database have in common. */
export interface Common {
  /** The key that signs tokens. */
  secret: string;
  /** The time zone of times without one, e.g. `Europe/Berlin`. */
  timeZone: string;
}

const readCommon: Statement = { text: 'SELECT secret, time_zone AS "timeZone" FROM signalbox.shared' };

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
export const compareCommon = async (connection: Connection, common: Common): Promise<boolean> => {
  const [row] = await connection.query(readCommon);
  if (!row) return false;
  if (row.secret !== toMark(common)) {
    throw new LastingProblem('its other instances use another jwtSecret: set the same');
  }
  if (row.timeZone === common.timeZone) return true;
  throw new LastingProblem(`its other instances use the time zone ${row.timeZone}: set timeZone to that`);
};

/** The secret itself is not stored. */
const toMark = ({ secret }: Common): string => createHmac('sha256', secret).update('signalbox').digest('base64url');
