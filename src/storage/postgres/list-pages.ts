import type { List } from '../list.ts';
import type { Row } from './connection.ts';
import type { Database } from './database.ts';
import type { DatabaseSnapshot } from './reader.ts';

/** Rows that are read at once, and bytes of their bodies, unless one alone has more. */
const pageRows = 1000;
const pageBytes = 1024 * 1024;

/** The same for the first page: many clients read one at the same time. */
const firstBytes = 512 * 1024;

/** What to list: rows of a table with these conditions, which contain no text of clients. */
interface Selection {
  table: string;
  conditions: readonly string[];
  /** Values of parameters in them and in `total`. */
  values?: unknown[];
  /** The id, as the index has it. */
  id: string;
  /** Whether rows are listed from the highest id on downwards. */
  isBack?: boolean;
  /** An expression over the row of the gate with this name: the number of all matches. */
  gate: string;
  total: string;
}

/** What was selected, in the order of ids; `next` is the last id, if there are more matches after `limit`. */
interface SelectedList<T extends object> extends List<T> {
  next?: number;
}

/**
 * At most `limit` rows with ids above `after`. A short list is read at once; a longer one page by page, on a connection of
 * its own, as of one moment. `toPiece` gets the bodies of a page.
 */
export const readPages = async <T extends object>(
  database: Database,
  selection: Selection,
  limit: number,
  after: number,
  toPiece: (bodies: readonly string[]) => Iterable<T>,
): Promise<SelectedList<T>> => {
  const { total, rows } = await readFirstPage(database, selection, limit, after, firstBytes);
  const isCut = rows.slice(0, limit).some(isBodiless) || (limit > pageRows && rows.length > pageRows);
  if (isCut) return readLongList(await database.openSnapshot(), selection, limit, after, toPiece);
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
  snapshot: DatabaseSnapshot,
  selection: Selection,
  limit: number,
  after: number,
  toPiece: (bodies: readonly string[]) => Iterable<T>,
): Promise<SelectedList<T>> => {
  const [{ total, found }] = await snapshot.query({ text: selectCounts(selection, limit, after) });
  const count = Math.min(found, limit);
  const [last] = found > limit ? await snapshot.query({ text: selectLast(selection, limit, after) }) : [];
  const pieces = (async function* () {
    try {
      let read = after;
      for (let left = count; left > 0; ) {
        const rows = await snapshot.query({ text: selectPage(selection, Math.min(left, pageRows), read, pageBytes) });
        const page = rows.filter((row) => !isBodiless(row));
        yield toPiece(page.map(({ body }) => body));
        left -= page.length;
        read = page.at(-1).id;
      }
    } finally {
      snapshot.close();
    }
  })();
  return { total, count, pieces, ...(last && { next: last.id }) };
};

/**
 * The first page of rows after an id (or before it), as of one moment with the total. There may be a row more than wanted,
 * which shows that there are more; rows without a body do not fit into `bytes`.
 */
export const readFirstPage = async (
  database: Database,
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

/** The total, and how many rows there are, counted as far as one above the limit; all from the first on are the total. */
const selectCounts = (selection: Selection, limit: number, after: number): string => {
  const { gate, total } = selection;
  const counted = `(SELECT count(*) FROM (SELECT 1 FROM ${fromMatches(selection, after)} LIMIT ${limit + 1}) AS found)`;
  return `SELECT ${total} AS total, ${after > 0 ? counted : total} AS found FROM signalbox.gate AS gate
    WHERE gate.name = '${gate}'`;
};

/** The id of the last row that the limit allows. */
const selectLast = (selection: Selection, limit: number, after: number): string =>
  `SELECT id FROM ${fromMatches(selection, after)} ORDER BY ${selection.id} LIMIT 1 OFFSET ${limit - 1}`;

const fromMatches = ({ table, conditions, id, isBack }: Selection, from: number): string =>
  `signalbox.${table} WHERE ${[...conditions, `${id} ${isBack ? '<' : '>'} ${from}`].join(' AND ')}`;

export const isBodiless = ({ body }: Row): boolean => body === null;
