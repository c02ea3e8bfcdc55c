import { awaitWithin } from '../../lib/scheduling.ts';
import { hourMs } from '../../lib/units.ts';
import type { Statement } from '../../storage/postgres/connection.ts';
import type { Database } from '../../storage/postgres/database.ts';
import type { CheckedLogin, LoginLimits } from './login-limits.ts';

/** Milliseconds that a login waits for the database. Without the database, each instance counts only its own logins. */
const queryTimeoutMs = 500;

/** Shares the checked logins of the last hour with the other instances that use the database. */
export const createSharedLogins = (database: Database, clock: () => Date, learn: LoginLimits['learn']) => {
  let lastSeq = 0;
  database.expire({ table: 'login', key: 'seq', at: { timestamp: 'at' }, keptMs: hourMs, clock });
  const query = async (statement: Statement) =>
    (await awaitWithin(
      queryTimeoutMs,
      database.query(statement).catch(() => []),
    )) ?? [];
  return {
    /** Counts the logins that other instances have checked since the last call. */
    refresh: async (): Promise<void> => {
      const rows = await query({
        text: `SELECT seq, ip, name, is_right, extract(epoch FROM now() - at)::float8 AS age FROM signalbox.login
          WHERE seq > $1 AND instance <> $2 AND at > now() - interval '1 hour' ORDER BY seq`,
        values: [lastSeq, database.instance],
      });
      for (const { seq, ip, name, is_right: isRight, age } of rows) {
        // Another refresh may have counted this row already.
        if (seq <= lastSeq) continue;
        lastSeq = seq;
        learn({ ip: ip ?? undefined, user: name ?? undefined, isRight, age });
      }
    },
    /** Stores a checked login for the other instances. */
    report: async ({ ip, user, isRight }: Omit<CheckedLogin, 'age'>): Promise<void> => {
      await query({
        text: 'INSERT INTO signalbox.login (instance, ip, name, is_right) VALUES ($1, $2, $3, $4)',
        values: [database.instance, ip ?? null, user ?? null, isRight],
      });
    },
  };
};
