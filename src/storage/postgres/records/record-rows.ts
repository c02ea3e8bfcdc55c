import type { Statement } from '../connecting/connection.ts';

/** A record in its table. */
interface RecordRow {
  seq: number;
  id: string;
  /** Milliseconds since 1970. */
  at: number;
  level: string | null;
  body: string;
}

/** Adds records to their table; an id that is there already is an error. */
export const insertRecords = (table: string, instance: string, rows: readonly RecordRow[]): Statement => ({
  text: `INSERT INTO signalbox.${table} (seq, id, at, level, body, instance)
    SELECT u.*, $6::text FROM unnest($1::bigint[], $2::uuid[], $3::bigint[], $4::text[], $5::text[]) AS u`,
  values: [
    rows.map(({ seq }) => seq),
    rows.map(({ id }) => id),
    rows.map(({ at }) => at),
    rows.map(({ level }) => level),
    rows.map(({ body }) => body),
    instance,
  ],
});

/** By what a record is recognized when it comes again. */
export interface RememberedKey {
  hash: string;
  state: string;
  /** Of the record. */
  id: string;
  /** Milliseconds since 1970. */
  at: number;
}

/** Remembers keys with different hashes; earlier ones with these are replaced. */
export const rememberKeys = (keys: readonly RememberedKey[]): Statement => ({
  text: `INSERT INTO signalbox.repeat (hash, state, id, at)
    SELECT * FROM unnest($1::text[], $2::text[], $3::uuid[], $4::bigint[])
    ON CONFLICT (hash) DO UPDATE SET state = excluded.state, id = excluded.id, at = excluded.at`,
  values: [
    keys.map(({ hash }) => hash),
    keys.map(({ state }) => state),
    keys.map(({ id }) => id),
    keys.map(({ at }) => at),
  ],
});
