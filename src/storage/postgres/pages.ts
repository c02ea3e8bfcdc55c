import { MiB } from '../../lib/units.ts';
import type { List } from '../list.ts';
import type { Row } from './connection.ts';
import type { DatabaseReader, ReadTransaction } from './reader.ts';

/**
 * Maximum number of rows per page, and maximum size of their bodies in bytes. A single row may exceed the maximum size.
 */
const pageRows = 1000;
const pageBytes = MiB;

/** Maximum size of the first page in bytes. Small, because many clients may read a first page at the same time. */
const firstBytes = MiB / 2;

type PageReader = Pick<DatabaseReader, 'queryFirstPage' | 'openTransaction'>;

/** Rows to list. */
interface Selection {
  table: string;
  /** SQL conditions. They contain no text from clients. */
  conditions: readonly string[];
  /** Parameters for the conditions and for `total`. */
  values?: unknown[];
  /** Expression of the id in the index. */
  id: string;
  /** True for a list in descending order of ids. */
  isBack?: boolean;
  /** Name of the gate, and an expression on its row that counts all matches. */
  gate: string;
  total: string;
}

/** Selected rows, ordered by id. */
interface SelectedList<T extends object> extends List<T> {
  /** Last listed id, if more matches follow. */
  next?: number;
}

/**
 * Reads at most `limit` rows with ids above `after`. A short list takes one query. A longer list is read page by page
 * in a transaction. `toPiece` receives the bodies of a page.
 */
export const readPages = async <T extends object>(
  database: PageReader,
  selection: Selection,
  limit: number,
  after: number,
  toPiece: (bodies: readonly string[]) => Iterable<T>,
): Promise<SelectedList<T>> => {
  const { total, rows } = await readFirstPage(database, selection, limit, after, firstBytes);
  const isCut = rows.slice(0, limit).some(isBodiless) || (limit > pageRows && rows.length > pageRows);
  if (isCut) return readLongList(await database.openTransaction(), selection, limit, after, toPiece);
  const bodies = rows.slice(0, limit).map(({ body }) => body);
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return {
    total,
    count: bodies.length,
    pieces: [toPiece(bodies)],
    ...(last && { next: last.id }),
  };
};

const readLongList = async <T extends object>(
  transaction: ReadTransaction,
  selection: Selection,
  limit: number,
  after: number,
  toPiece: (bodies: readonly string[]) => Iterable<T>,
): Promise<SelectedList<T>> => {
  const [{ total, found }] = await transaction.query({ text: selectCounts(selection, limit, after) });
  const count = Math.min(found, limit);
  const [last] = found > limit ? await transaction.query({ text: selectLast(selection, limit, after) }) : [];
  const pieces = (async function* () {
    try {
      let read = after;
      for (let left = count; left > 0; ) {
        const rows = await transaction.query({
          text: selectPage(selection, Math.min(left, pageRows), read, pageBytes),
        });
        const page = rows.filter((row) => !isBodiless(row));
        yield toPiece(page.map(({ body }) => body));
        left -= page.length;
        read = page.at(-1).id;
      }
    } finally {
      transaction.close();
    }
  })();
  return { total, count, pieces, ...(last && { next: last.id }) };
};

/**
 * Reads the first page of rows after `from`, and the total, in one consistent snapshot. With `isBack`, reads rows
 * before `from`. One row beyond `limit` shows that more rows follow. Rows that do not fit into `bytes` have no body.
 */
export const readFirstPage = async (
  database: PageReader,
  selection: Selection,
  limit: number,
  from: number,
  bytes: number,
): Promise<{ total: number; rows: Row[] }> => {
  const { total, gate, values = [], isBack } = selection;
  const rows = await database.queryFirstPage({
    text: `SELECT ${total} AS total, page.id, page.body FROM signalbox.gate AS gate
      LEFT JOIN LATERAL (${selectPage(selection, Math.min(limit, pageRows) + 1, from, bytes)}) AS page ON true
      WHERE gate.name = '${gate}' ORDER BY page.id ${isBack ? 'DESC' : 'ASC'}`,
    values,
  });
  return { total: rows[0]?.total ?? 0, rows: rows.filter(({ id }) => id !== null) };
};

const selectPage = (selection: Selection, limit: number, from: number, bytes: number): string => {
  const order = selection.isBack ? 'DESC' : 'ASC';
  return `SELECT id, CASE WHEN before < ${bytes} THEN body END AS body FROM (
    SELECT id, body, sum(octet_length(body)) OVER (ORDER BY id ${order}) - octet_length(body) AS before FROM (
      SELECT id, body FROM ${fromMatches(selection, from)} ORDER BY ${selection.id} ${order} LIMIT ${limit}
    ) AS found
  ) AS sized ORDER BY id ${order}`;
};

/** Returns the query for the total and for the rows after an id. Counts the rows only up to one above the limit. */
const selectCounts = (selection: Selection, limit: number, after: number): string => {
  const { gate, total } = selection;
  const counted = `(SELECT count(*) FROM (SELECT 1 FROM ${fromMatches(selection, after)} LIMIT ${limit + 1}) AS found)`;
  return `SELECT ${total} AS total, ${after > 0 ? counted : total} AS found FROM signalbox.gate AS gate
    WHERE gate.name = '${gate}'`;
};

/** Returns the query for the last id of a page with at most `limit` rows. */
const selectLast = (selection: Selection, limit: number, after: number): string =>
  `SELECT id FROM ${fromMatches(selection, after)} ORDER BY ${selection.id} LIMIT 1 OFFSET ${limit - 1}`;

const fromMatches = ({ table, conditions, id, isBack }: Selection, from: number): string =>
  `signalbox.${table} WHERE ${[...conditions, `${id} ${isBack ? '<' : '>'} ${from}`].join(' AND ')}`;

/** True for a row that is too large for its page. */
export const isBodiless = ({ body }: Row): boolean => body === null;
