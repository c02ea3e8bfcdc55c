import { setTimeout as pause } from 'node:timers/promises';
import type { Statement } from '../../storage/postgres/connecting/connection.ts';
import type { Database } from '../../storage/postgres/database.ts';
import type { CheckedLogin } from './limits.ts';

/** Milliseconds that a login waits for the database: where it cannot be used, each instance counts its own logins. */
const patienceMs = 500;

const hourMs = 60 * 60 * 1000;

/** Logins that all instances of a database have checked in the last hour. */
export interface SharedLogins {
  /** Passes on what other instances have checked since the last time. */
  refresh(): Promise<void>;
  /** Tells the other instances. */
  report(login: Omit<CheckedLogin, 'age'>): Promise<void>;
}

export const createSharedLogins = (
  database: Database,
  clock: () => Date,
  learn: (login: CheckedLogin) => void,
): SharedLogins => {
  let lastSeq = 0;
  database.expire({ table: 'login', key: 'seq', at: { timestamp: 'at' }, keptMs: hourMs, clock });
  const query = async (statement: Statement) => {
    const late = pause(patienceMs, [], { ref: false });
    return Promise.race([database.query(statement).catch(() => []), late]);
  };
  return {
    refresh: async () => {
      const rows = await query({
        text: `SELECT seq, ip, name, is_right, extract(epoch FROM now() - at)::float8 AS age FROM signalbox.login
          WHERE seq > $1 AND instance <> $2 AND at > now() - interval '1 hour' ORDER BY seq`,
        values: [lastSeq, database.instance],
      });
      for (const { seq, ip, name, is_right: isRight, age } of rows) {
        // Two refreshes may have read it.
        if (seq <= lastSeq) continue;
        lastSeq = seq;
        learn({ ip: ip ?? undefined, user: name ?? undefined, isRight, age });
      }
    },
    report: async ({ ip, user, isRight }) => {
      await query({
        text: 'INSERT INTO signalbox.login (instance, ip, name, is_right) VALUES ($1, $2, $3, $4)',
        values: [database.instance, ip ?? null, user ?? null, isRight],
      });
    },
  };
};
