import { JournalError } from '../journal/errors.ts';
import type { StoredRecord } from '../journal/line.ts';
import type { LastRecord } from '../record-log.ts';
import type { Row } from './connection.ts';
import type { Database } from './database.ts';
import { parseRow } from './record-search.ts';

/** Rows of one page, and the bytes of bodies after which it ends. */
const pageCount = 1000;
const pageBytes = 4 * 1024 * 1024;

/** Tables with one order of seq. */
export interface FollowedTables {
  tables: readonly string[];
  /** The projection whose snapshot may have records alone; undefined without one. */
  projection: string | undefined;
}

/**
 * Records after a seq for a projection that has folded those up to `last`, which has no id where that is the seq of its snapshot.
 * Each page is read in one statement with a look whether `last` is still there: after a failover of the database, others may have
 * its seq and those before it.
 *
 * @throws JournalError `gone` where it is not, or where the snapshot alone has some of these records
 */
export async function* readFollowed(
  database: Pick<Database, 'query'>,
  { tables, projection }: FollowedTables,
  seq: number,
  last: LastRecord | undefined,
): AsyncGenerator<StoredRecord[]> {
  let after = seq;
  let known = last;
  for (;;) {
    const rows = await database.query({
      text: selectPage(tables),
      values: [after, known?.seq ?? 0, projection ?? ''],
    });
    const [{ gone, saved, lastId }] = rows as [Row];
    if (projection !== undefined && (gone ?? 0) > after) {
      throw new JournalError('gone', `the snapshot alone has records after ${after}`);
    }
    if (known && isLost(known, { gone, saved, lastId }, projection !== undefined)) {
      throw new JournalError('gone', `record ${known.seq} is not the one that was folded`);
    }
    const records = rows.filter((row) => row.seq !== null).map(parseRow);
    const end = records.at(-1);
    if (!end) return;
    yield records;
    after = end.seq;
    known = end;
  }
}

interface FoundLast {
  gone: number | null;
  /** The seq of the snapshot. */
  saved: number | null;
  /** The id of the record with the seq. */
  lastId: string | null;
}

const isLost = (known: LastRecord, { gone, saved, lastId }: FoundLast, hasSnapshot: boolean): boolean => {
  if (known.id === undefined) return hasSnapshot && (saved ?? 0) < known.seq;
  if (lastId !== null) return lastId !== known.id;
  // Old rows are deleted.
  return hasSnapshot && (gone ?? 0) < known.seq;
};

/** One page of rows, the oldest first, each with what is known of the last record before; one without a seq if there are none. */
const selectPage = (tables: readonly string[]): string => {
  const all = (select: (table: string) => string): string =>
    tables.map((table) => `(${select(table)})`).join(' UNION ALL ');
  return `SELECT known.gone, known.saved, known.last_id AS "lastId", page.* FROM (SELECT
      (SELECT gone FROM signalbox.projection WHERE name = $3) AS gone,
      (SELECT seq FROM signalbox.projection WHERE name = $3) AS saved,
      (SELECT id FROM (${all((table) => `SELECT id FROM signalbox.${table} WHERE seq = $2`)}) AS one) AS last_id
    ) AS known LEFT JOIN (
      SELECT seq, id, instance, body FROM (
        SELECT *, coalesce(sum(octet_length(body)) OVER (ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING
          AND 1 PRECEDING), 0) AS bytes
        FROM (
          SELECT * FROM (${all(
            (table) =>
              `SELECT seq, id, instance, body FROM signalbox.${table} WHERE seq > $1 ORDER BY seq LIMIT ${pageCount}`,
          )}) AS merged ORDER BY seq LIMIT ${pageCount}
        ) AS few
      ) AS sized WHERE bytes < ${pageBytes}
    ) AS page ON true ORDER BY page.seq`;
};
