import { Slice } from '../../lib/slice.ts';
import { MiB } from '../../lib/units.ts';
import { lengthOf } from '../changes.ts';
import type { ProjectionSnapshot, ProjectionState } from '../projection.ts';
import type { RecordLog } from '../record-log.ts';
import type { Collection } from './batch.ts';
import type { Row, Statement } from './connection.ts';
import type { Database } from './database.ts';

/** The version of the tables from which on programs read snapshots. */
const snapshotVersion = 10;

/** A snapshot is written when the log has so many characters after the last one: of several instances, one writes it. */
const leastGrowth = 2 * MiB;

/** Characters of a part, and parts that are read and written at once. */
const partLength = 64 * 1024;
const partCount = 16;

/** Rows of the log that stay for those who list them: so many bytes of the newest, but no more than so many rows. */
const keptBytes = 16 * MiB;
const keptCount = 100_000;

interface SnapshotTableParts {
  database: Database;
  /** Its rows may be deleted once they are in the snapshot. */
  log: Pick<RecordLog, 'readAfter'>;
  /** The log's table. */
  table: 'setting';
  createState(): ProjectionState;
}

/** A snapshot as of the event with the seq and the id, made of the snapshot as of `from` and the events after it. */
interface NewSnapshot {
  table: string;
  from: number;
  seq: number;
  id: string;
  parts: readonly string[];
}

/**
 * The snapshot of a log that instances share. It is made of the tables alone, never of a state in memory, which may have events
 * that a failover of the database has lost.
 */
export const createSnapshotTable = ({ database, log, table, createState }: SnapshotTableParts): ProjectionSnapshot => {
  let size = 0;
  const read = async (restore: (entry: unknown) => void): Promise<number> => {
    const found = await database.openSnapshot();
    try {
      size = 0;
      return await readSnapshot(
        (statement) => found.query(statement),
        table,
        (body) => {
          size += body.length;
          for (const entry of JSON.parse(body)) restore(entry);
        },
      );
    } finally {
      found.close();
    }
  };
  const write = async (): Promise<void> => {
    const state = createState();
    const from = await read((entry) => state.restore(entry));
    let [last, growth] = [{ seq: from, id: '' }, 0];
    for await (const events of log.readAfter(from)) {
      for (const event of events) {
        state.fold(event);
        growth += lengthOf(event);
        last = event;
      }
    }
    if (growth < leastGrowth) return;
    const parts = await toParts(state.save());
    await database.writeApart(storing, { table, from, seq: last.seq, id: last.id, parts });
    size = parts.reduce((sum, { length }) => sum + length, 0);
  };
  database.cut({ table, findLast: () => findLast(database, table) });
  return {
    get size(): number {
      return size;
    },
    read,
    write,
  };
};

/** Calls `take` with each part of the snapshot, an array as JSON, and resolves to the seq; 0 without a snapshot. */
export const readSnapshot = async (
  query: (statement: Statement) => Promise<Row[]>,
  table: string,
  take: (body: string) => void,
): Promise<number> => {
  const [head] = await query({ text: 'SELECT seq FROM signalbox.projection WHERE name = $1', values: [table] });
  if (!head) return 0;
  const text = `SELECT part, body FROM signalbox.projection_part WHERE name = $1 AND part >= $2
    ORDER BY part LIMIT ${partCount}`;
  for (let [next, count] = [0, partCount]; count === partCount; next += count) {
    const rows = await query({ text, values: [table, next] });
    for (const { body } of rows) take(body);
    count = rows.length;
  }
  return head.seq;
};

const toParts = async (pieces: Iterable<readonly unknown[]>): Promise<string[]> => {
  const slice = new Slice();
  const parts: string[] = [];
  let entries: string[] = [];
  let length = 0;
  for (const entry of flatten(pieces)) {
    const json = JSON.stringify(entry);
    if (length > 0 && length + json.length > partLength) {
      parts.push(`[${entries.join(',')}]`);
      [entries, length] = [[], 0];
    }
    entries.push(json);
    length += json.length;
    if (slice.isOver) await slice.giveWay();
  }
  return [...parts, `[${entries.join(',')}]`];
};

function* flatten<T>(pieces: Iterable<readonly T[]>): Generator<T> {
  for (const piece of pieces) yield* piece;
}

/** Replaces snapshots; resolves to whether it has. */
const storing: Collection<NewSnapshot, boolean> = {
  name: 'projection',
  read: (changes) => [
    { text: 'SELECT name, seq FROM signalbox.projection' },
    ...changes.map(({ table, id }) => ({ text: `SELECT id FROM signalbox.${table} WHERE id = $1`, values: [id] })),
  ],
  decide: (changes, [heads = [], ...found]) => {
    const seqs = new Map<string, number>(heads.map(({ name, seq }) => [name, seq]));
    const ids = new Set(found.flat().map(({ id }) => id));
    const statements: Statement[] = [];
    const decisions = changes.map((change) => {
      const { table, from, seq, id } = change;
      // Another instance has been faster, or the database has lost the event.
      if ((seqs.get(table) ?? 0) !== from || !ids.has(id)) return { result: false };
      seqs.set(table, seq);
      statements.push(...replaceSnapshot(change));
      return { result: true };
    });
    return { decisions, statements };
  },
};

function* replaceSnapshot({ table, seq, parts }: NewSnapshot): Generator<Statement> {
  yield { text: 'DELETE FROM signalbox.projection_part WHERE name = $1', values: [table] };
  const insert = `INSERT INTO signalbox.projection_part (name, part, body)
    SELECT $1, $2::int + number - 1, body FROM unnest($3::text[]) WITH ORDINALITY AS given (body, number)`;
  for (let first = 0; first < parts.length; first += partCount) {
    yield { text: insert, values: [table, first, parts.slice(first, first + partCount)] };
  }
  yield {
    text: `INSERT INTO signalbox.projection (name, seq) VALUES ($1, $2)
      ON CONFLICT (name) DO UPDATE SET seq = excluded.seq`,
    values: [table, seq],
  };
}

/** An instance of a version that does not read snapshots may still be there. */
const hasOlder = `EXISTS (SELECT FROM signalbox.writer
  WHERE knows < ${snapshotVersion} AND seen_at > now() - interval '1 day')`;

/**
 * The last row that may be deleted; 0 for none. Programs that do not read snapshots are refused from then on, and beside one
 * of them nothing is deleted.
 */
const findLast = async (database: Database, table: string): Promise<number> => {
  const [found] = await database.query({
    text: `SELECT max(least(rows.seq, head.seq)) AS last FROM signalbox.projection AS head CROSS JOIN (
        SELECT seq, sum(octet_length(body)) OVER newest AS bytes, row_number() OVER newest AS number
        FROM (SELECT seq, body FROM signalbox.${table} ORDER BY seq DESC LIMIT ${keptCount + 1}) AS tail
        WINDOW newest AS (ORDER BY seq DESC)
      ) AS rows WHERE head.name = $1 AND (bytes > ${keptBytes} OR number > ${keptCount})`,
    values: [table],
  });
  const mayDelete = `readable_by >= ${snapshotVersion}`;
  if (found.last !== null) {
    const [refused] = await database.query({
      text: `UPDATE signalbox.schema SET readable_by = ${snapshotVersion} WHERE NOT ${mayDelete} AND NOT ${hasOlder}
        RETURNING 1 AS one`,
    });
    // One of them that starts at this moment is seen the next time.
    if (refused) return 0;
  }
  const [row] = await database.query({
    text: `UPDATE signalbox.projection SET gone = greatest(gone, $2::bigint) WHERE name = $1
      AND EXISTS (SELECT FROM signalbox.schema WHERE ${mayDelete}) AND NOT ${hasOlder} RETURNING gone`,
    values: [table, found.last ?? 0],
  });
  return row?.gone ?? 0;
};
