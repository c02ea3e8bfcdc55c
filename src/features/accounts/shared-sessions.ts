import { tokenLifetime } from '../../auth/token.ts';
import { awaitWithin } from '../../lib/scheduling.ts';
import type { Database } from '../../storage/postgres/database.ts';
import type { SharedSessions } from './sessions.ts';

/**
 * Milliseconds that a list waits for the database. Without the database, an instance lists only the sessions that it
 * knows.
 */
const queryTimeoutMs = 1000;

/** Milliseconds after which the last token of a session has certainly expired, even if clocks are wrong. */
const keptMs = 2 * 1000 * tokenLifetime;

/** Stores sessions in a table, for the lists shown to users. Tokens are valid even without an entry. */
export const createSharedSessions = (
  database: Pick<Database, 'query' | 'expire'>,
  clock: () => Date,
): SharedSessions => {
  database.expire({ table: 'session', key: 'id', at: { milliseconds: 'at' }, keptMs, clock });
  return {
    write: ({ id, user, since, renewedAt, address, client }) => {
      const text = `INSERT INTO signalbox.session AS known (id, name, since, at, address, client) VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (id) DO UPDATE SET at = excluded.at, address = excluded.address, client = excluded.client
        WHERE known.at < excluded.at RETURNING 1 AS one`;
      const values = [id, user, since * 1000, renewedAt * 1000, address, client];
      // The database logs its own failure. Only this instance lists the session until it is renewed.
      database.query({ text, values }).catch(() => undefined);
    },
    remove: (user) => {
      const text = 'DELETE FROM signalbox.session WHERE name = $1 RETURNING 1 AS one';
      database.query({ text, values: [user] }).catch(() => undefined);
    },
    read: async (user, after, count) => {
      const text = `SELECT id, name, since, at, address, client FROM signalbox.session
        WHERE name = $1 AND at > $2 ORDER BY at DESC LIMIT $3`;
      const query = database.query({ text, values: [user, after * 1000, count] }).catch(() => []);
      const rows = (await awaitWithin(queryTimeoutMs, query)) ?? [];
      return rows.map(({ id, name, since, at, address, client }) => ({
        id,
        user: name,
        since: Number(since) / 1000,
        renewedAt: Number(at) / 1000,
        address,
        client,
      }));
    },
  };
};
