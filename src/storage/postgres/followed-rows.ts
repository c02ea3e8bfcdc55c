import { MiB } from '../../lib/units.ts';
import { JournalError } from '../journal/errors.ts';
import type { StoredRecord } from '../journal/line.ts';
import type { LastRecord } from '../record-log.ts';
import type { OnDamage } from '../snapshot.ts';
import type { Row } from './connection.ts';
import type { Database } from './database.ts';
import { parseRow } from './record-search.ts';

/** Maximum number of rows per page, and total size of their bodies, in bytes, at which a page ends. */
const pageCount = 1000;
const pageBytes = 4 * MiB;

/** Tables with seqs from the same sequence. */
export interface FollowedTables {
  /** Names of the tables. The first table gives the gate its name. */
  tables: readonly [string, ...string[]];
  /** Tables to read. */
  wanted: readonly string[];
  /** Projection whose snapshot may contain deleted records. Undefined without one. */
  projection: string | undefined;
}

/**
 * Reads the records after a seq in pages, for a projection that has folded up to `last`. Stops at the last record that
 * exists when reading begins. The query for each page also checks that `last` still exists, because after a failover of
 * the database, other records may have taken its seq and earlier ones. Throws a JournalError with the code `gone` if
 * `last` is missing, or if some of the records are only in the snapshot. Leaves out unreadable rows, and calls
 * `onDamage` with each of them.
 */
export async function* readFollowed(
  database: Pick<Database, 'query'>,
  { tables, wanted, projection }: FollowedTables,
  seq: number,
  last: LastRecord | undefined,
  onDamage: OnDamage,
): AsyncGenerator<StoredRecord[]> {
  let after = seq;
  let known = last;
  let goal: number | undefined;
  for (;;) {
    const rows = await database.query({
      text: selectPage(tables, wanted),
      values: [after, known?.seq ?? 0, projection ?? '', tables[0]],
    });
    const [{ gone, saved, lastId, end }] = rows as [Row];
    if (projection !== undefined && (gone ?? 0) > after) {
      throw new JournalError('gone', `records after ${after} exist only in the snapshot`);
    }
    if (known && isLost(known, { gone, saved, lastId, end }, projection !== undefined)) {
      throw new JournalError('gone', `record ${known.seq} is not the record that was folded`);
    }
    const found = rows.filter((row) => row.seq !== null);
    const read = found.at(-1) as LastRecord | undefined;
    if (!read) return;
    const records = found.flatMap((row) => parseOne(row, tables[0], onDamage));
    if (records.length > 0) yield records;
    goal ??= end as number;
    if (read.seq >= goal) return;
    after = read.seq;
    known = { seq: read.seq, id: read.id };
  }
}

const parseOne = (row: Row, log: string, onDamage: OnDamage): StoredRecord[] => {
  try {
    return [parseRow(row)];
  } catch {
    onDamage(`record ${row.seq} of the log ${log} is damaged`);
    return [];
  }
};

interface FoundLast {
  gone: number | null;
  /** Seq of the snapshot. */
  saved: number | null;
  /** Id of the record at the seq of `last`. */
  lastId: string | null;
  /** Last assigned seq. */
  end: number;
}

const isLost = (known: LastRecord, { gone, saved, lastId, end }: FoundLast, hasSnapshot: boolean): boolean => {
  if (known.id === undefined) return hasSnapshot && (saved ?? 0) < known.seq;
  if (end < known.seq) return true;
  if (lastId !== null) return lastId !== known.id;
  // A row up to `gone` has been deleted because of its age.
  return hasSnapshot && (gone ?? 0) < known.seq;
};

/**
 * Returns the query for one page of rows, oldest first. Each row has the columns of FoundLast. If the page is empty,
 * the query returns a single row without a seq.
 */
const selectPage = (tables: readonly string[], wanted: readonly string[]): string => {
  const all = (from: readonly string[], select: (table: string) => string): string =>
    from.map((table) => `(${select(table)})`).join(' UNION ALL ');
  return `SELECT known.gone, known.saved, known.last_id AS "lastId", known.end_seq AS "end", page.* FROM (SELECT
      (SELECT gone FROM signalbox.projection WHERE name = $3) AS gone,
      (SELECT seq FROM signalbox.projection WHERE name = $3) AS saved,
      (SELECT id FROM (${all(tables, (table) => `SELECT id FROM signalbox.${table} WHERE seq = $2`)}) AS one) AS last_id,
      (SELECT last_id FROM signalbox.gate WHERE name = $4) AS end_seq
    ) AS known LEFT JOIN (
      SELECT seq, id, instance, body FROM (
        SELECT *, coalesce(sum(octet_length(body)) OVER (ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING
          AND 1 PRECEDING), 0) AS bytes
        FROM (
          SELECT * FROM (${all(
            wanted,
            (table) =>
              `SELECT seq, id, instance, body FROM signalbox.${table} WHERE seq > $1 ORDER BY seq LIMIT ${pageCount}`,
          )}) AS merged ORDER BY seq LIMIT ${pageCount}
        ) AS few
      ) AS sized WHERE bytes < ${pageBytes}
    ) AS page ON true ORDER BY page.seq`;
};
