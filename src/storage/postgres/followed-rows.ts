import { MiB } from '../../lib/units.ts';
import { JournalError } from '../journal/errors.ts';
import type { StoredRecord } from '../journal/line.ts';
import type { LastRecord } from '../record-log.ts';
import type { OnDamage } from '../snapshot.ts';
import type { Row } from './connection.ts';
import type { Database } from './database.ts';
import { parseRow } from './record-search.ts';

/** Rows of one page, and the bytes of bodies after which it ends. */
const pageCount = 1000;
const pageBytes = 4 * MiB;

/** Tables with one order of seq, whose gate has the name of the first. */
export interface FollowedTables {
  tables: readonly [string, ...string[]];
  /** Those of them whose records are wanted. */
  wanted: readonly string[];
  /** The projection whose snapshot may have records alone; undefined without one. */
  projection: string | undefined;
}

/**
 * Records after a seq, up to those that are stored when the reading begins, for a projection that has folded those up to `last`,
 * which has no id where that is the seq of its snapshot.
 * Each page is read in one statement with a look whether `last` is still there: after a failover of the database, others may have
 * its seq and those before it.
 *
 * `onDamage` gets each row that cannot be read, which is left out.
 *
 * @throws JournalError `gone` where it is not, or where the snapshot alone has some of these records
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
      throw new JournalError('gone', `the snapshot alone has records after ${after}`);
    }
    if (known && isLost(known, { gone, saved, lastId, end }, projection !== undefined)) {
      throw new JournalError('gone', `record ${known.seq} is not the one that was folded`);
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
  /** The seq of the snapshot. */
  saved: number | null;
  /** The id of the record with the seq. */
  lastId: string | null;
  /** The last seq that was given to a record. */
  end: number;
}

const isLost = (known: LastRecord, { gone, saved, lastId, end }: FoundLast, hasSnapshot: boolean): boolean => {
  if (known.id === undefined) return hasSnapshot && (saved ?? 0) < known.seq;
  if (end < known.seq) return true;
  if (lastId !== null) return lastId !== known.id;
  // Old rows are deleted.
  return hasSnapshot && (gone ?? 0) < known.seq;
};

/** One page of rows, the oldest first, each with what is known of the last record before; one without a seq if there are none. */
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
