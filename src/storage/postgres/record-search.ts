import { Slice } from '../../lib/slice.ts';
import { MiB, minuteMs } from '../../lib/units.ts';
import { JournalError } from '../journal/errors.ts';
import { type LogRecord, type Match, passes, type StoredRecord } from '../journal/line.ts';
import type { Listing } from '../journal/read/listing.ts';
import type { Counting, Search, SearchResult } from '../journal/read/search.ts';
import type { Row } from './connection.ts';
import type { Database } from './database.ts';

/** Maximum number of rows per page, and total size of their bodies, in bytes, at which a page ends. */
const pageCount = 1000;
const pageBytes = 4 * MiB;

/** Maximum total size of the bodies in a listing, in bytes. */
const maxListedBytes = 256 * MiB;

/** Maximum number of rows that are sorted for a time range. Larger ranges are read in seq order. */
const sortedCount = 20_000;

/** Bytes that a row takes besides its body. They count towards the `maxBytes` of a search. */
const rowBytes = 256;

/** Maximum number of rows to count. */
const countedCount = 500_000;

/** Maximum length in characters of a string in the indexed column `level`. */
const maxLevelLength = 64;

/**
 * Maximum number of levels for which a table's rows are read level by level. With more levels, rows are read in seq
 * order.
 */
const maxLevels = 200;

/** Characters that PostgreSQL refuses: U+0000 and lone surrogates. */
const unstorable = /[\0\p{Cs}]/u;

/** Returns the level for the column. Null for anything but a short text that PostgreSQL can store. */
export const toLevel = (level: unknown): string | null =>
  typeof level === 'string' && level.length <= maxLevelLength && !unstorable.test(level) ? level : null;

/** Parses the record in a row, including the instance that stored it. */
export const parseRow = ({ body, id, seq, instance }: Row): StoredRecord & { instance: string } => ({
  ...(JSON.parse(body) as LogRecord),
  id,
  seq,
  instance,
});

/** Time range in milliseconds since 1970. The end is exclusive. */
interface Times {
  since: number;
  until: number;
}

/** Rows of a page, in seq order. */
export interface RowRange {
  table: string;
  /** Rows after a seq, oldest first, or rows before a seq, newest first. */
  from: { after: number } | { before: number };
  /**
   * Limits the rows to those of an instance, those with one of the levels or no level, or those with one of the seqs.
   * Instance and level each share an index with seq.
   */
  where?: { instance: string } | { levels: readonly string[] } | { seqs: readonly number[] } | undefined;
  /** Time range of the rows. It must be short, because all of its rows are sorted. */
  times?: Times | undefined;
  /** Time range outside which rows have no body. */
  shown?: Times | undefined;
}

/** Reads one page of rows with seq, id, instance and body. An empty page marks the end. */
export const readPage = (database: Database, range: RowRange): Promise<Row[]> => {
  const { table, from, where, times, shown } = range;
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const isIn = ({ since, until }: Times): string => `at >= ${bind(since)} AND at < ${bind(until)}`;
  // The index on the other column contains this expression.
  const seq = (where && !('seqs' in where)) || times ? '(seq + 0)' : 'seq';
  const [order, bound] = 'after' in from ? ['ASC', `> ${bind(from.after)}`] : ['DESC', `< ${bind(from.before)}`];
  const conditions = [`${seq} ${bound}`];
  if (where && 'instance' in where) conditions.push(`instance = ${bind(where.instance)}`);
  if (where && 'seqs' in where) conditions.push(`seq = ANY(${bind(where.seqs)})`);
  if (where && 'levels' in where) {
    conditions.push(`seq = ANY(${selectLevelSeqs(table, bind(where.levels), bound, order)})`);
  }
  if (times) conditions.push(isIn(times));
  const body = shown ? `CASE WHEN ${isIn(shown)} THEN body END AS body` : 'body';
  const text = `SELECT seq, id, instance, body FROM (
      SELECT *, coalesce(sum(octet_length(body)) OVER (ORDER BY seq ${order} ROWS BETWEEN UNBOUNDED PRECEDING
        AND 1 PRECEDING), 0) AS bytes
      FROM (SELECT seq, id, instance, ${body} FROM signalbox.${table} WHERE ${conditions.join(' AND ')}
        ORDER BY ${seq} ${order} LIMIT ${pageCount}) AS page
    ) AS sized WHERE bytes < ${pageBytes} ORDER BY seq ${order}`;
  return database.query({ text, values });
};

/**
 * Returns a query for one page of seqs of rows that have one of the levels or no level. Rare levels are found fast,
 * because each level is read separately.
 */
const selectLevelSeqs = (table: string, levels: string, bound: string, order: string): string => {
  const first = (level: string): string => `(SELECT seq FROM signalbox.${table} WHERE ${level} AND (seq + 0) ${bound}
    ORDER BY (seq + 0) ${order} LIMIT ${pageCount})`;
  return `ARRAY(SELECT seq FROM (
      SELECT page.seq FROM unnest(${levels}::text[]) AS wanted (name) CROSS JOIN LATERAL ${first('level = wanted.name')} AS page
      UNION ALL ${first('level IS NULL')}
    ) AS found ORDER BY seq ${order} LIMIT ${pageCount})`;
};

/**
 * Lists matches among the last `count` records. Rejects with a JournalError with the code `window-too-large` if too
 * much would have to be read.
 */
export const listTable = async (database: Database, table: string, count: number, match?: Match): Promise<Listing> => {
  const rows = await database.query({
    text: `SELECT seq, level, octet_length(body) AS bytes FROM signalbox.${table} ORDER BY seq DESC LIMIT $1`,
    values: [count],
  });
  if (rows.reduce((sum, { bytes }) => sum + bytes, 0) > maxListedBytes) {
    throw new JournalError('window-too-large', `a listing reads at most ${maxListedBytes} bytes of the log`);
  }
  const window = rows.reverse();
  const chosen = match ? await chooseRows(database, table, window, match) : window;
  const seqs = chosen.map(({ seq }) => seq as number);
  return {
    count: seqs.length,
    damaged: 0,
    records: () => readRecords(database, table, seqs),
    close: async () => undefined,
  };
};

const chooseRows = async (database: Database, table: string, rows: Row[], { field, value }: Match): Promise<Row[]> => {
  const level = field === 'level' ? toLevel(value) : null;
  if (level !== null) return rows.filter((row) => row.level === level);
  const seqs = rows.map(({ seq }) => seq as number);
  const chosen = new Set<unknown>();
  for await (const record of readRecords(database, table, seqs)) if (record[field] === value) chosen.add(record['seq']);
  return rows.filter(({ seq }) => chosen.has(seq));
};

/** Reads records by seq. Throws if a row is deleted in the meantime. */
async function* readRecords(database: Database, table: string, seqs: readonly number[]): AsyncGenerator<LogRecord> {
  for (let read = 0; read < seqs.length; ) {
    const wanted = seqs.slice(read, read + pageCount);
    const page = await readPage(database, { table, from: { after: 0 }, where: { seqs: wanted } });
    if (page.length === 0 || page.some(({ seq }, index) => seq !== wanted[index])) {
      throw new Error('records were deleted while they were read');
    }
    for (const row of page) yield parseRow(row);
    read += page.length;
  }
}

/** Searches a table's records, newest first. */
export const searchTable = async (database: Database, table: string, search: Search): Promise<SearchResult> => {
  const { match = [], test = () => true, limit, maxFoundBytes = Number.POSITIVE_INFINITY } = search;
  const range = await planSearch(database, table, search);
  const slice = new Slice();
  const records: StoredRecord[] = [];
  let left = search.maxBytes;
  let foundBytes = 0;
  for (let before = search.before ?? Number.MAX_SAFE_INTEGER; ; ) {
    const rows = await readPage(database, { ...range, from: { before } });
    if (rows.length === 0) return { records, next: undefined };
    for (const row of rows) {
      if (slice.isOver) await slice.giveWay();
      before = row.seq;
      left -= rowBytes + (row.body?.length ?? 0);
      if (row.body === null) continue;
      if (records.length >= limit || foundBytes >= maxFoundBytes) return { records, next: records.at(-1)?.seq };
      const record = parseRow(row);
      if (!passes(record, match) || !test(record)) continue;
      records.push(record);
      foundBytes += row.body.length;
    }
    if (left <= 0) return { records, next: before };
  }
};

/** Resolves to the row range that selects the fewest rows for a search. */
const planSearch = async (
  database: Database,
  table: string,
  { since = Number.MIN_SAFE_INTEGER, until = Number.MAX_SAFE_INTEGER, match = [] }: Search,
): Promise<Omit<RowRange, 'from'>> => {
  const isOfAllTimes = since === Number.MIN_SAFE_INTEGER && until === Number.MAX_SAFE_INTEGER;
  const times = isOfAllTimes ? undefined : { since, until };
  if (times && (await isSmall(database, table, times))) return { table, times };
  const wanted = match.filter(({ field }) => field === 'level');
  const all = wanted.length > 0 ? await listTableLevels(database, table) : undefined;
  const levels = all?.filter((level) => passes({ level }, wanted));
  return { table, where: levels && { levels }, shown: times };
};

const isSmall = async (database: Database, table: string, { since, until }: Times): Promise<boolean> => {
  const [row] = await database.query({
    text: `SELECT count(*) AS count FROM (SELECT FROM signalbox.${table} WHERE at >= $1 AND at < $2
      LIMIT ${sortedCount + 1}) AS few`,
    values: [since, until],
  });
  return row.count <= sortedCount;
};

/** Reads the levels in the table by jumping from one index entry to the next. Undefined if there are too many. */
const listTableLevels = async (database: Database, table: string): Promise<string[] | undefined> => {
  const next = (after: string): string => `SELECT level FROM signalbox.${table} WHERE ${after} ORDER BY level LIMIT 1`;
  const rows = await database.query({
    text: `WITH RECURSIVE found AS (
        (${next('level IS NOT NULL')})
        UNION ALL SELECT (${next('level > found.level')}) FROM found WHERE found.level IS NOT NULL
      ) SELECT level FROM found WHERE level IS NOT NULL LIMIT ${maxLevels + 1}`,
  });
  return rows.length > maxLevels ? undefined : rows.map(({ level }) => level);
};

/**
 * Counts the records of a table by minute and level. Resolves to false if there are too many. In that case, only the
 * newest have been counted.
 */
export const countTable = async (
  database: Database,
  table: string,
  { since, until, add }: Counting,
): Promise<boolean> => {
  const rows = await database.query({
    text: `SELECT floor(at / ${minuteMs}.0)::bigint AS minute, level, count(*) AS count FROM
      (SELECT at, level FROM signalbox.${table} WHERE at >= $1 AND at < $2 ORDER BY at DESC LIMIT ${countedCount})
      AS few GROUP BY 1, 2`,
    values: [since * minuteMs, until * minuteMs],
  });
  for (const { minute, level, count } of rows) add(minute, level ?? undefined, count);
  return rows.reduce((sum, { count }) => sum + count, 0) < countedCount;
};
