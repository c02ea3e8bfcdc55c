import { JournalError } from '../../journal/errors.ts';
import type { LogRecord, Match } from '../../journal/line.ts';
import type { Listing } from '../../journal/read/listing.ts';
import type { Row } from '../connecting/connection.ts';
import type { Database } from '../database.ts';
import { toLevel, toRecord } from './record-pages.ts';

/** Bytes of bodies in the window of one listing. */
const maxBytes = 256 * 1024 * 1024;

/** Rows that are read at once, and the bytes of their bodies. */
const chunkCount = 500;
const chunkBytes = 1024 * 1024;

/** Those of the last `count` records that match. @throws JournalError `window-too-large` */
export const listTable = async (database: Database, table: string, count: number, match?: Match): Promise<Listing> => {
  const window = await database.query({
    text: `SELECT seq, level, octet_length(body) AS bytes FROM signalbox.${table} ORDER BY seq DESC LIMIT $1`,
    values: [count],
  });
  if (window.reduce((sum, { bytes }) => sum + bytes, 0) > maxBytes) {
    throw new JournalError('window-too-large', `a listing reads at most ${maxBytes} bytes of the log`);
  }
  const rows = match ? await choose(database, table, window.reverse(), match) : window.reverse();
  return {
    count: rows.length,
    damaged: 0,
    records: () => readRecords(database, table, rows),
    close: async () => undefined,
  };
};

const choose = async (database: Database, table: string, rows: readonly Row[], match: Match): Promise<Row[]> => {
  const { field, value } = match;
  const level = field === 'level' ? toLevel(value) : null;
  if (level !== null) return rows.filter((row) => row.level === level);
  const seqs = new Set<unknown>();
  for await (const record of readRecords(database, table, rows)) if (record[field] === value) seqs.add(record['seq']);
  return rows.filter(({ seq }) => seqs.has(seq));
};

/** Throws if a row is deleted meanwhile. */
async function* readRecords(database: Database, table: string, rows: readonly Row[]): AsyncGenerator<LogRecord> {
  for (const chunk of toChunks(rows)) {
    const found = await database.query({
      text: `SELECT seq, id, instance, body FROM signalbox.${table} WHERE seq = ANY($1) ORDER BY seq`,
      values: [chunk.map(({ seq }) => seq)],
    });
    if (found.length < chunk.length) throw new Error('records were deleted while they were read');
    for (const row of found) yield toRecord(row);
  }
}

function* toChunks(rows: readonly Row[]): Generator<Row[]> {
  let chunk: Row[] = [];
  let bytes = 0;
  for (const row of rows) {
    chunk.push(row);
    bytes += row.bytes;
    if (chunk.length < chunkCount && bytes < chunkBytes) continue;
    yield chunk;
    chunk = [];
    bytes = 0;
  }
  if (chunk.length > 0) yield chunk;
}
