import type { Database } from '../../storage/postgres/database.ts';
import type { ReplacedFile } from '../../storage/replaced-file.ts';

/** Last time at which pings could be received, in Unix milliseconds. */
export interface LastAlive {
  /** Reads the time. Undefined if unknown. */
  read(): Promise<number | undefined>;
  write(at: number): Promise<void>;
}

/** Name of the row in `heartbeat_state` that contains the time. */
export const aliveRow = ':alive';

/** Stores the time in a file in the data directory. */
export const createLastAlive = (file: ReplacedFile): LastAlive => ({
  read: async () => Number(String((await file.read()) ?? '')) || undefined,
  write: (at) => file.write(Buffer.from(`${at}\n`)),
});

/** Stores the time in the database that instances share. */
export const createSharedLastAlive = (database: Pick<Database, 'query'>): LastAlive => ({
  read: async () => {
    const text = 'SELECT seq FROM signalbox.heartbeat_state WHERE name = $1';
    const [row] = await database.query({ text, values: [aliveRow] });
    return row?.seq;
  },
  write: async (at) => {
    const text = `INSERT INTO signalbox.heartbeat_state (name, seq, body) VALUES ($1, $2, 'null')
      ON CONFLICT (name) DO UPDATE SET seq = excluded.seq RETURNING 1 AS one`;
    await database.query({ text, values: [aliveRow, at] });
  },
});
