import { parseJson } from '../../lib/parse-json.ts';
import { Slice } from '../../lib/slice.ts';
import { dayMs, MiB } from '../../lib/units.ts';
import { JournalError } from '../journal/errors.ts';
import { createId } from '../journal/line.ts';
import { entryBreak, salvage } from '../salvage.ts';
import type { OnDamage, ProjectionSnapshot } from '../snapshot.ts';
import type { Collection } from './batch.ts';
import type { Row, Statement } from './connection.ts';
import type { Database } from './database.ts';

/** First version of the tables that only programs with support for snapshots use. */
const snapshotVersion = 10;

/**
 * Minimum growth of the log in bytes between snapshots. Does not apply if `isWriter` selects the instance that writes
 * the snapshots.
 */
const minGrowth = 2 * MiB;

/** Number of characters per part. */
const partLength = 64 * 1024;

/** Number of parts that are read or written together. Requests are answered in between. */
const partCount = 4;

/** Number of parts per deletion. */
const deletedCount = 64;

/** Milliseconds after which parts without a snapshot are deleted. Their writer must have stopped by then. */
const leftOverMs = dayMs;

/** Limits for the newest rows of the log: bytes, and number of rows. These rows are kept for lists. */
const keptBytes = 16 * MiB;
const keptCount = 100_000;

interface SnapshotTableParts {
  database: Database;
  /** Table of the log, and its second table with events, if any. */
  tables: readonly [table: 'setting' | 'alert' | 'availability' | 'status_page', eventTable?: string];
  /** True if the rows of the log, except the newest, are deleted once the snapshot contains them. */
  cutsLog?: boolean;
  /** Returns true on the instance that writes snapshots. By default, any instance writes a snapshot that is due. */
  isWriter?: () => boolean;
}

/** Snapshot as of the event with this seq and id. */
interface NewSnapshot {
  tables: SnapshotTableParts['tables'];
  seq: number;
  id: string;
  /** Name that all parts of the snapshot share. */
  parts: string;
  /** Number of parts. */
  count: number;
}

/**
 * Creates the snapshot of a log that instances share. A new snapshot counts only if the tables contain all its parts
 * and the last event of its state, so that it neither lacks entries nor includes events that a failover of the database
 * has lost.
 */
export const createSnapshotTable = (given: SnapshotTableParts): ProjectionSnapshot => {
  const { database, tables, cutsLog, isWriter } = given;
  const [table] = tables;
  let size = 0;
  if (cutsLog) database.cut({ table, findLast: () => findLast(database, table) });
  return {
    get size(): number {
      return size;
    },
    ...(isWriter && { mayWrite: isWriter }),
    read: async (restore, onDamage) => {
      const found = await database.openTransaction();
      try {
        const restored = await restoreSnapshot((statement) => found.query(statement), table, restore, onDamage);
        size = restored.size;
        return restored.seq;
      } finally {
        found.close();
      }
    },
    write: async (_seq, entries, last) => {
      if (last?.id === undefined) return;
      const { seq, id } = last;
      if (!(await isDue(database, table, seq, isWriter ? 0 : minGrowth))) return;
      const parts = `${table}/${createId()}`;
      await deleteLeftOver(database, table);
      let spare = parts;
      try {
        const written = await writeParts(database, parts, entries);
        // After a failure, the parts may still become valid.
        spare = '';
        const stored = await database.writeApart(storing, { tables, seq, id, parts, count: written.count });
        spare = stored.spare;
        if (stored.counts) size = written.size;
      } finally {
        if (spare !== '') await deleteParts(database, table, 'name = $2', spare).catch(() => undefined);
      }
    },
  };
};

/** Resolves to true if the last snapshot is older than the seq and the log has grown by `bytes` since that snapshot. */
const isDue = async (database: Database, table: string, seq: number, bytes: number): Promise<boolean> => {
  const growth = `(SELECT coalesce(sum(octet_length(body)), 0) FROM signalbox.${table} WHERE seq > head.seq AND seq <= $2)`;
  const [row] = await database.query({
    text: `SELECT head.seq < $2${bytes > 0 ? ` AND ${growth} >= ${bytes}` : ''} AS "isDue"
      FROM (SELECT coalesce((SELECT seq FROM signalbox.projection WHERE name = $1), 0) AS seq) AS head`,
    values: [table, seq],
  });
  return row.isDue;
};

/**
 * Deletes parts of old snapshots, a few at a time. Keeps the parts of the current snapshot. After a failover, this may
 * be an earlier one.
 */
const deleteParts = async (database: Database, table: string, condition: string, value: string): Promise<void> => {
  const text = `DELETE FROM signalbox.projection_part WHERE (name, part) IN (
      SELECT name, part FROM signalbox.projection_part WHERE ${condition} AND name IS DISTINCT FROM
        (SELECT coalesce(parts, name) FROM signalbox.projection WHERE name = $1) LIMIT ${deletedCount}
    ) RETURNING 1 AS one`;
  for (let count = deletedCount; count === deletedCount; ) {
    count = (await database.query({ text, values: [table, value] })).length;
  }
};

/** Deletes old parts that do not belong to the current snapshot. */
const deleteLeftOver = (database: Database, table: string): Promise<void> => {
  const condition = `(name = $1 OR starts_with(name, $1 || '/') AND name < $1 || '/' || $2)`;
  return deleteParts(database, table, condition, createId(Date.now() - leftOverMs));
};

/** Stores the entries under a name, a few parts at a time, so that other writes do not have to wait. */
const writeParts = async (
  database: Database,
  name: string,
  pieces: Iterable<readonly unknown[]>,
): Promise<{ size: number; count: number }> => {
  let first = 0;
  let size = 0;
  let parts: string[] = [];
  const store = async (): Promise<void> => {
    await database.query({
      text: `INSERT INTO signalbox.projection_part (name, part, body)
        SELECT $1, $2::int + number - 1, body FROM unnest($3::text[]) WITH ORDINALITY AS given (body, number)
        ON CONFLICT DO NOTHING RETURNING 1 AS one`,
      values: [name, first, parts],
    });
    first += parts.length;
    size += parts.reduce((sum, { length }) => sum + length, 0);
    parts = [];
  };
  for await (const part of toParts(pieces)) {
    parts.push(part);
    if (parts.length === partCount) await store();
  }
  await store();
  return { size, count: first };
};

/** Restores the readable entries of a snapshot. Resolves to its seq and its size in characters. */
export const restoreSnapshot = async (
  query: (statement: Statement) => Promise<Row[]>,
  table: string,
  restore: (entry: unknown) => void,
  onDamage: OnDamage,
): Promise<{ seq: number; size: number }> => {
  let size = 0;
  const seq = await readSnapshot(query, table, (body) => {
    size += body.length;
    const entries = parseJson(body);
    if (!Array.isArray(entries)) onDamage(`the snapshot of the table ${table} is damaged`);
    for (const entry of Array.isArray(entries) ? entries : salvage(body)) restore(entry);
  });
  return { seq, size };
};

/**
 * Calls `take` with each part of the snapshot. A part is a JSON array. Resolves to the seq, or to 0 without a snapshot.
 * Rejects if a part is missing.
 */
export const readSnapshot = async (
  query: (statement: Statement) => Promise<Row[]>,
  table: string,
  take: (body: string) => void,
): Promise<number> => {
  // Tables of an older version have no column `parts`.
  const [head] = await query({ text: 'SELECT * FROM signalbox.projection WHERE name = $1', values: [table] });
  if (!head) return 0;
  const name = head.parts ?? table;
  const text = `SELECT part, body FROM signalbox.projection_part WHERE name = $1 AND part >= $2
    ORDER BY part LIMIT ${partCount}`;
  for (let [next, count] = [0, partCount]; count === partCount; next += count) {
    const rows = await query({ text, values: [name, next] });
    for (const [index, { part, body }] of rows.entries()) {
      if (part !== next + index)
        throw new JournalError('damaged', `part ${next + index} of the snapshot ${name} is missing`);
      take(body);
    }
    count = rows.length;
  }
  return head.seq;
};

async function* toParts(pieces: Iterable<readonly unknown[]>): AsyncGenerator<string> {
  const slice = new Slice();
  let entries: string[] = [];
  let length = 0;
  for (const entry of flatten(pieces)) {
    const json = JSON.stringify(entry);
    if (length > 0 && length + json.length > partLength) {
      yield `[${entries.join(entryBreak)}]`;
      [entries, length] = [[], 0];
    }
    entries.push(json);
    length += json.length;
    if (slice.isOver) await slice.giveWay();
  }
  yield `[${entries.join(entryBreak)}]`;
}

function* flatten<T>(pieces: Iterable<readonly T[]>): Generator<T> {
  for (const piece of pieces) yield* piece;
}

interface Stored {
  /** True if the new snapshot is valid. */
  counts: boolean;
  /** Name of the parts that are no longer valid. */
  spare: string;
}

/** Collection whose newer snapshots replace older ones. */
const storing: Collection<NewSnapshot, Stored> = {
  name: 'projection',
  read: (changes) => [
    { text: 'SELECT name, seq, coalesce(parts, name) AS parts FROM signalbox.projection' },
    ...changes.map(({ tables, seq, id, parts }) => ({
      text: `SELECT ${tables
        .map((table) => `EXISTS (SELECT FROM signalbox.${table} WHERE seq = $1 AND id = $2)`)
        .join(' OR ')} AS "hasLast", (SELECT count(*) FROM signalbox.projection_part WHERE name = $3) AS count`,
      values: [seq, id, parts],
    })),
  ],
  decide: (changes, [heads = [], ...found]) => {
    const statements: Statement[] = [];
    const decisions = changes.map(({ tables: [table], seq, parts, count }, index) => {
      const head = heads.find(({ name }) => name === table);
      const isWhole = found[index]?.[0]?.hasLast === true && found[index]?.[0]?.count === count;
      // Another instance was faster, or the database has lost the event or some parts.
      if ((head?.seq ?? 0) >= seq || !isWhole) return { result: { counts: false, spare: parts } };
      statements.push({
        text: `INSERT INTO signalbox.projection (name, seq, parts) VALUES ($1, $2, $3)
          ON CONFLICT (name) DO UPDATE SET seq = excluded.seq, parts = excluded.parts`,
        values: [table, seq, parts],
      });
      return { result: { counts: true, spare: head?.parts ?? table } };
    });
    return { decisions, statements };
  },
};

/** SQL condition that is true if an instance without support for snapshots may still be running. */
const hasOlder = `EXISTS (SELECT FROM signalbox.writer
  WHERE knows < ${snapshotVersion} AND seen_at > now() - interval '1 day')`;

/**
 * Resolves to the seq of the last row that may be deleted, or to 0 if there is none. From then on, programs without
 * support for snapshots are refused. While one of them is running, nothing is deleted.
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
    // If such a program starts at this very moment, the next call detects it.
    if (refused) return 0;
  }
  const [row] = await database.query({
    text: `UPDATE signalbox.projection SET gone = greatest(gone, $2::bigint) WHERE name = $1
      AND EXISTS (SELECT FROM signalbox.schema WHERE ${mayDelete}) AND NOT ${hasOlder} RETURNING gone`,
    values: [table, found.last ?? 0],
  });
  return row?.gone ?? 0;
};
