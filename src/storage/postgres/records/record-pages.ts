import type { LogRecord } from '../../journal/line.ts';
import type { StoredRecord } from '../../journal/read/lines.ts';
import type { Row } from '../connecting/connection.ts';
import type { Database } from '../database.ts';

/** Rows of one page, and the bytes of bodies after which it ends. */
const pageCount = 1000;
const pageBytes = 4 * 1024 * 1024;

/** Longer texts are not in the column `level`, which has an index. */
const longestLevel = 64;

/** Rows of a table with more levels are read in the order of seq, whatever their level. */
const mostLevels = 200;

/** U+0000 and lone surrogates, which PostgreSQL does not store. */
const unstorable = /[\0\p{Cs}]/u;

/** The level as the column has it: null if it is no text, too long, or of characters that PostgreSQL does not store. */
export const toLevel = (level: unknown): string | null =>
  typeof level === 'string' && level.length <= longestLevel && !unstorable.test(level) ? level : null;

/** The record in a row, with the instance that has stored it. */
export const toRecord = ({ body, id, seq, instance }: Row): StoredRecord & { instance: string } => ({
  ...(JSON.parse(body) as LogRecord),
  ...{ id, seq, instance },
});

/** Which rows a page has, in the order of seq. */
export interface Range {
  table: string;
  /** Oldest first, those after the seq; or newest first, those before it. */
  from: { after: number } | { before: number };
  /** Only rows of an instance, or those with one of these levels, or without any: each column has an index with seq. */
  where?: { instance: string } | { levels: readonly string[] } | undefined;
  /** Only rows of these times; few, since all of them are sorted. */
  times?: Times | undefined;
  /** Rows of other times have no body. */
  shown?: Times | undefined;
}

/** Milliseconds since 1970: the first, and the one after the last. */
export interface Times {
  since: number;
  until: number;
}

/** One page of rows with seq, id, instance and body. It is empty if there are no more. */
export const readPage = (database: Database, { table, from, where, times, shown }: Range): Promise<Row[]> => {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const isIn = ({ since, until }: Times): string => `at >= ${bind(since)} AND at < ${bind(until)}`;
  // An index that begins with another column has this expression.
  const seq = where || times ? '(seq + 0)' : 'seq';
  const [order, bound] = 'after' in from ? ['ASC', `> ${bind(from.after)}`] : ['DESC', `< ${bind(from.before)}`];
  const conditions = [
    `${seq} ${bound}`,
    ...(where && 'instance' in where ? [`instance = ${bind(where.instance)}`] : []),
    ...(where && 'levels' in where ? [`seq = ANY(${toLevelSeqs(table, bind(where.levels), bound, order)})`] : []),
    ...(times ? [isIn(times)] : []),
  ];
  const body = shown ? `CASE WHEN ${isIn(shown)} THEN body END AS body` : 'body';
  const text = `SELECT seq, id, instance, body FROM (
      SELECT *, coalesce(sum(octet_length(body)) OVER (ORDER BY seq ${order} ROWS BETWEEN UNBOUNDED PRECEDING
        AND 1 PRECEDING), 0) AS bytes
      FROM (SELECT seq, id, instance, ${body} FROM signalbox.${table} WHERE ${conditions.join(' AND ')}
        ORDER BY ${seq} ${order} LIMIT ${pageCount}) AS page
    ) AS sized WHERE bytes < ${pageBytes} ORDER BY seq ${order}`;
  return database.query({ text, values });
};

/** The seqs of one page of rows with the levels, or without any: the first ones of each level, so that rare ones are found fast. */
const toLevelSeqs = (table: string, levels: string, bound: string, order: string): string => {
  const first = (level: string): string => `(SELECT seq FROM signalbox.${table} WHERE ${level} AND (seq + 0) ${bound}
    ORDER BY (seq + 0) ${order} LIMIT ${pageCount})`;
  return `ARRAY(SELECT seq FROM (
      SELECT page.seq FROM unnest(${levels}::text[]) AS wanted (name) CROSS JOIN LATERAL ${first('level = wanted.name')} AS page
      UNION ALL ${first('level IS NULL')}
    ) AS found ORDER BY seq ${order} LIMIT ${pageCount})`;
};

/** The levels in the table, from one to the next in the index; undefined if there are very many. */
export const listLevels = async (database: Database, table: string): Promise<string[] | undefined> => {
  const next = (after: string): string => `SELECT level FROM signalbox.${table} WHERE ${after} ORDER BY level LIMIT 1`;
  const rows = await database.query({
    text: `WITH RECURSIVE found AS (
        (${next('level IS NOT NULL')})
        UNION ALL SELECT (${next('level > found.level')}) FROM found WHERE found.level IS NOT NULL
      ) SELECT level FROM found WHERE level IS NOT NULL LIMIT ${mostLevels + 1}`,
    values: [],
  });
  return rows.length > mostLevels ? undefined : rows.map(({ level }) => level);
};
