import type { Database } from '../../storage/postgres/database.ts';
import type { LastRecord } from '../../storage/record-log.ts';
import type { ReplacedFile } from '../../storage/replaced-file.ts';
import type { ProjectionSnapshot } from '../../storage/snapshot.ts';
import type { HeartbeatEntry } from './fold.ts';
import type { Outage } from './judge.ts';

/** Until when pings could be received, in Unix milliseconds. */
export interface LastAlive {
  /** Undefined if it is not known. */
  read(): Promise<number | undefined>;
  write(at: number): Promise<void>;
}

const outagesName = ':outages';
const aliveName = ':alive';

/** States that are read at once. */
const atOnce = 50;

/** In a file of the data directory. */
export const createLastAlive = (file: ReplacedFile): LastAlive => ({
  read: async () => Number(String((await file.read()) ?? '')) || undefined,
  write: (at) => file.write(Buffer.from(`${at}\n`)),
});

/** In the database that instances share. */
export const createSharedLastAlive = (database: Pick<Database, 'query'>): LastAlive => ({
  read: async () => {
    const text = 'SELECT seq FROM signalbox.heartbeat_state WHERE name = $1';
    const [row] = await database.query({ text, values: [aliveName] });
    return row?.seq;
  },
  write: async (at) => {
    const text = `INSERT INTO signalbox.heartbeat_state (name, seq, body) VALUES ($1, $2, 'null')
      ON CONFLICT (name) DO UPDATE SET seq = excluded.seq RETURNING 1 AS one`;
    await database.query({ text, values: [aliveName, at] });
  },
});

/** A snapshot in the database that instances share. Each row has a seq of its own, since somebody may write just now. */
export const createHeartbeatSnapshot = (database: Pick<Database, 'query'>): ProjectionSnapshot => {
  let size = 0;
  const writeRows = async (rows: readonly { name: string; body: string }[], seq: number): Promise<void> => {
    await database.query({
      text: `INSERT INTO signalbox.heartbeat_state AS known (name, seq, body)
        SELECT name, $2::bigint, body FROM unnest($1::text[], $3::text[]) AS given (name, body)
        ON CONFLICT (name) DO UPDATE SET seq = excluded.seq, body = excluded.body WHERE known.seq <= excluded.seq
        RETURNING 1 AS one`,
      values: [rows.map(({ name }) => name), seq, rows.map(({ body }) => body)],
    });
  };
  /** A failover may have lost what led to the states. */
  const isThere = async (last: LastRecord | undefined): Promise<boolean> => {
    const text = 'SELECT 1 AS one FROM signalbox.heartbeat WHERE seq = $1 AND id = $2';
    return (await database.query({ text, values: [last?.seq, last?.id ?? null] })).length > 0;
  };
  return {
    get size(): number {
      return size;
    },
    read: async (restore) => {
      const first = 'SELECT seq, body FROM signalbox.heartbeat_state WHERE name = $1';
      const [outages] = await database.query({ text: first, values: [outagesName] });
      if (!outages) return 0;
      restore({ outages: JSON.parse(outages.body) });
      // Somebody may write just now: states are read after the seq of all, and may be newer.
      const next = `SELECT name, seq, body FROM signalbox.heartbeat_state WHERE name NOT IN ($1, $2) AND name > $3
        ORDER BY name LIMIT ${atOnce}`;
      size = 0;
      for (let [last, count] = ['', atOnce]; count === atOnce; ) {
        const rows = await database.query({ text: next, values: [outagesName, aliveName, last] });
        for (const { seq, body } of rows) {
          restore({ ...JSON.parse(body), asOf: seq });
          size += body.length;
        }
        count = rows.length;
        last = rows.at(-1)?.name ?? last;
      }
      return outages.seq;
    },
    write: async (seq, pieces, last) => {
      if (!(await isThere(last))) return;
      const names: string[] = [];
      let outages: readonly Outage[] = [];
      let written = 0;
      for (const piece of pieces as Iterable<readonly HeartbeatEntry[]>) {
        const rows: { name: string; body: string }[] = [];
        for (const entry of piece) {
          if ('outages' in entry) outages = entry.outages;
          else rows.push({ name: entry.name, body: JSON.stringify(entry) });
        }
        if (rows.length > 0) await writeRows(rows, seq);
        for (const { name, body } of rows) {
          names.push(name);
          written += body.length;
        }
      }
      // It says that all states are as of the seq.
      await writeRows([{ name: outagesName, body: JSON.stringify(outages) }], seq);
      const text = 'DELETE FROM signalbox.heartbeat_state WHERE name <> ALL($1) AND name NOT IN ($2, $3) AND seq <= $4';
      await database.query({ text: `${text} RETURNING 1 AS one`, values: [names, outagesName, aliveName, seq] });
      size = written;
    },
  };
};
