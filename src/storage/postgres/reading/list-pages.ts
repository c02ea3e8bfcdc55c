import type { Row } from '../connecting/connection.ts';
import type { Database } from '../database.ts';

/** Rows that are read at once, and bytes of their bodies, unless one alone has more. */
const pageRows = 1000;
const pageBytes = 1024 * 1024;

/** The same for the first page: many clients read one at the same time. */
const firstBytes = 512 * 1024;

/** What to list: rows of a table with these conditions, which contain no text of clients. */
export interface Selection {
  table: string;
  conditions: readonly string[];
  /** The id, as the index has it. */
  id: string;
  /** An expression over the row of the gate with this name: the number of all matches. */
  gate: string;
  total: string;
}

/** Bodies in the order of their ids. */
export interface Found {
  total: number;
  count: number;
  pages: string[][] | AsyncIterable<string[]>;
  /** The last id, if there are more matches after `limit`. */
  next?: number;
}

/**
 * At most `limit` rows with ids above `after`. A short list is read at once; a longer one page by page, on a connection of
 * its own, as of one moment.
 */
export const readPages = async (
  database: Database,
  selection: Selection,
  limit: number,
  after: number,
): Promise<Found> => {
  const { total, rows, isCut } = await readFirst(database, selection, limit, after);
  if (!isCut)
    return { total, count: Math.min(rows.length, limit), ...toNext(rows, limit), pages: [toBodies(rows, limit)] };
  const snapshot = await database.openSnapshot();
  const [counted] = await snapshot.query({ text: count(selection, limit, after) });
  const hasMore = counted.found > limit;
  const [last] = hasMore ? await snapshot.query({ text: selectLast(selection, limit, after) }) : [];
  const length = Math.min(counted.found, limit);
  const pages = (async function* () {
    try {
      let read = after;
      for (let left = length; left > 0; ) {
        const page = (
          await snapshot.query({ text: select(selection, Math.min(left, pageRows), read, pageBytes) })
        ).filter(hasBody);
        yield page.map(({ body }) => body);
        left -= page.length;
        read = page.at(-1).id;
      }
    } finally {
      snapshot.close();
    }
  })();
  return { total: counted.total, count: length, pages, ...(hasMore && { next: last.id }) };
};

/** The first page, as of one moment with the total; with one row more than wanted, which shows whether there are more. */
const readFirst = async (database: Database, selection: Selection, limit: number, after: number) => {
  const rows = await database.queryFirstPage({
    text: `SELECT ${selection.total} AS total, page.id, page.body FROM signalbox.gate AS gate
      LEFT JOIN LATERAL (${select(selection, Math.min(limit, pageRows) + 1, after, firstBytes)}) AS page ON true
      WHERE gate.name = '${selection.gate}' ORDER BY page.id`,
  });
  const found = rows.filter(({ id }) => id !== null);
  const isCut =
    found.slice(0, limit).some(({ body }) => body === null) || (limit > pageRows && found.length > pageRows);
  return { total: rows[0]?.total ?? 0, rows: found, isCut };
};

/** Rows without a body do not fit into a page any more. */
const select = (selection: Selection, limit: number, after: number, bytes: number): string =>
  `SELECT id, CASE WHEN before < ${bytes} THEN body END AS body FROM (
    SELECT id, body, sum(octet_length(body)) OVER (ORDER BY id) - octet_length(body) AS before FROM (
      SELECT id, body FROM ${matches(selection, after)} ORDER BY ${selection.id} LIMIT ${limit}
    ) AS found
  ) AS sized ORDER BY id`;

/** The total, and how many rows there are, counted as far as one above the limit; all from the first on are the total. */
const count = (selection: Selection, limit: number, after: number): string => {
  const { gate, total } = selection;
  const counted =
    after > 0
      ? `(SELECT count(*) FROM (SELECT 1 FROM ${matches(selection, after)} LIMIT ${limit + 1}) AS found)`
      : total;
  return `SELECT ${total} AS total, ${counted} AS found FROM signalbox.gate AS gate WHERE gate.name = '${gate}'`;
};

/** The id of the last row that the limit allows. */
const selectLast = (selection: Selection, limit: number, after: number): string =>
  `SELECT id FROM ${matches(selection, after)} ORDER BY ${selection.id} LIMIT 1 OFFSET ${limit - 1}`;

const matches = ({ table, conditions, id }: Selection, after: number): string =>
  `signalbox.${table} WHERE ${[...conditions, `${id} > ${after}`].join(' AND ')}`;

const hasBody = ({ body }: Row): boolean => body !== null;

const toBodies = (rows: readonly Row[], limit: number): string[] => rows.slice(0, limit).map(({ body }) => body);

const toNext = (rows: readonly Row[], limit: number) => {
  const last = rows[limit - 1];
  return rows.length > limit && last ? { next: last.id as number } : {};
};
