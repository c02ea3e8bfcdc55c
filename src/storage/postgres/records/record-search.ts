import { passes } from '../../journal/line.ts';
import type { StoredRecord } from '../../journal/read/lines.ts';
import type { Counting, Search, SearchResult } from '../../journal/read/search.ts';
import { Slice } from '../../journal/scheduling.ts';
import type { Row } from '../connecting/connection.ts';
import type { Database } from '../database.ts';
import { listLevels, readPage, type Times, toRecord } from './record-pages.ts';

/** So many rows of a time range are sorted; of a range with more, rows are read in the order of seq. */
const sortedCount = 20_000;

/** What a row costs of `maxBytes`, beside its body. */
const rowBytes = 256;

/** Rows that are counted at most. */
const countedCount = 500_000;

const minuteMs = 60_000;

/** Searches the records of a table, newest first, as the journal searches its files. */
export const searchTable = async (database: Database, table: string, search: Search): Promise<SearchResult> => {
  const { match = [], test = () => true, limit, maxFoundBytes = Number.POSITIVE_INFINITY } = search;
  const readNext = await createPages(database, table, search);
  const slice = new Slice();
  const records: StoredRecord[] = [];
  let left = search.maxBytes;
  let foundBytes = 0;
  for (let before = search.before ?? Number.MAX_SAFE_INTEGER; ; ) {
    const rows = await readNext(before);
    if (rows.length === 0) return { records, next: undefined };
    for (const row of rows) {
      if (slice.isOver) await slice.giveWay();
      before = row.seq;
      left -= rowBytes + (row.body?.length ?? 0);
      if (row.body === null) continue;
      if (records.length >= limit || foundBytes >= maxFoundBytes) return { records, next: records.at(-1)?.seq };
      const record = toRecord(row);
      if (!passes(record, match) || !test(record)) continue;
      records.push(record);
      foundBytes += row.body.length;
    }
    if (left <= 0) return { records, next: before };
  }
};

/** Reads pages in the way that skips most of what the search does not want. */
const createPages = async (
  database: Database,
  table: string,
  { since, until, match = [] }: Search,
): Promise<(before: number) => Promise<Row[]>> => {
  const times = toTimes(since, until);
  if (times && (await isSmall(database, table, times))) {
    return (before) => readPage(database, { table, from: { before }, times });
  }
  const wanted = match.filter(({ field }) => field === 'level');
  const all = wanted.length > 0 ? await listLevels(database, table) : undefined;
  const levels = all?.filter((level) => passes({ level }, wanted));
  return (before) => readPage(database, { table, from: { before }, where: levels && { levels }, shown: times });
};

const toTimes = (since: number | undefined, until: number | undefined): Times | undefined =>
  since === undefined && until === undefined
    ? undefined
    : { since: since ?? Number.MIN_SAFE_INTEGER, until: until ?? Number.MAX_SAFE_INTEGER };

const isSmall = async (database: Database, table: string, { since, until }: Times): Promise<boolean> => {
  const [row] = await database.query({
    text: `SELECT count(*) AS count FROM (SELECT FROM signalbox.${table} WHERE at >= $1 AND at < $2
      LIMIT ${sortedCount + 1}) AS few`,
    values: [since, until],
  });
  return row.count <= sortedCount;
};

/** Counts the records of a table by minute and level, the newest if there are very many. */
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
  let total = 0;
  for (const { minute, level, count } of rows) {
    add(minute, level ?? undefined, count);
    total += count;
  }
  return total < countedCount;
};
