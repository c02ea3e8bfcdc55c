import type { Database } from '../../storage/postgres/database.ts';
import type { LastRecord } from '../../storage/record-log.ts';
import type { ProjectionSnapshot } from '../../storage/snapshot.ts';
import type { HeartbeatEntry } from './fold.ts';
import { aliveRow } from './last-alive.ts';
import type { Outage } from './outages.ts';

/** Name of the row that contains the outages. */
const outagesRow = ':outages';

/** Number of states that one query reads. */
const pageSize = 50;

/**
 * Creates a snapshot in the database that instances share. Each row has its own seq, because another instance may be
 * writing at the same time.
 */
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
  /** False if the last record that the states include was lost in a failover. */
  const hasRecord = async (last: LastRecord | undefined): Promise<boolean> => {
    const text = 'SELECT 1 AS one FROM signalbox.heartbeat WHERE seq = $1 AND id = $2';
    return (await database.query({ text, values: [last?.seq, last?.id ?? null] })).length > 0;
  };
  return {
    get size(): number {
      return size;
    },
    read: async (restore) => {
      const first = 'SELECT seq, body FROM signalbox.heartbeat_state WHERE name = $1';
      const [outages] = await database.query({ text: first, values: [outagesRow] });
      if (!outages) return 0;
      restore({ outages: JSON.parse(outages.body) });
      // States are read after the common seq, so they may be newer.
      const next = `SELECT name, seq, body FROM signalbox.heartbeat_state WHERE name NOT IN ($1, $2) AND name > $3
        ORDER BY name LIMIT ${pageSize}`;
      size = 0;
      for (let [last, count] = ['', pageSize]; count === pageSize; ) {
        const rows = await database.query({ text: next, values: [outagesRow, aliveRow, last] });
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
      if (!(await hasRecord(last))) return;
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
      // Written last, because this row declares all states to be as of the seq.
      await writeRows([{ name: outagesRow, body: JSON.stringify(outages) }], seq);
      const text = 'DELETE FROM signalbox.heartbeat_state WHERE name <> ALL($1) AND name NOT IN ($2, $3) AND seq <= $4';
      await database.query({ text: `${text} RETURNING 1 AS one`, values: [names, outagesRow, aliveRow, seq] });
      size = written;
    },
  };
};
