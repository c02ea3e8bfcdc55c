import { type ImportedStores, type PortableStore, passAll } from '../portable-store.ts';
import { readPostgresUrl } from './address.ts';
import { type Gate, lockGate, storeGate } from './batch.ts';
import { type Connection, Primary, type Row, type Statement } from './connection.ts';
import { readProjection } from './projection-transfer.ts';
import { migrate, readVersion, runAll } from './schema.ts';
import { readSnapshot } from './snapshot-table.ts';

/** Number of rows per fetch. Small, because a single row may have 1 MiB. */
const fetchedRows = 50;

interface TableExportOptions<Store> {
  /** Receives the planner's estimate of the number of changes. */
  onEstimate(count: number): void;
  /** Receives a description of each omitted part of a projection. */
  onDamage(store: Store, damage: string): void;
  /**
   * Called with a store whose tables contain data of an older version. Only a startup of this version converts such
   * data.
   */
  onFormer(store: Store): void;
}

/**
 * Reads the changes of stores in one consistent snapshot, in pieces. Returns false if no signalbox has used the
 * database yet. Changes nothing. Skips tables that an older version does not have. Throws a PermanentProblem if only a
 * newer version can read the database.
 */
export async function* exportTables<Store extends PortableStore>(
  url: string,
  stores: readonly Store[],
  { onEstimate, onDamage, onFormer }: TableExportOptions<Store>,
): AsyncGenerator<{ store: Store; changes: readonly unknown[] }, boolean> {
  const connection = await new Primary(readPostgresUrl(url)).connect();
  const query = (text: string, values?: unknown[]): Promise<Row[]> =>
    connection.query({ text, ...(values && { values }) });
  try {
    const [found] = await query(`SELECT to_regclass('signalbox.schema') IS NOT NULL AS "isThere"`);
    if (!found.isThere) return false;
    await query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    await readVersion(connection);
    const tables = await query(`SELECT tablename FROM pg_tables WHERE schemaname = 'signalbox'`);
    const hasTable = (name: string): boolean => tables.some(({ tablename }) => tablename === name);
    const hasSnapshots = hasTable('projection');
    const known: Store[] = [];
    for (const store of stores) {
      const { table, projection } = store;
      const needed = table.projection ? ['projection', ...table.projection.tables.tables] : [];
      if ([table.name, ...needed].every(hasTable)) known.push(store);
      else if (projection && hasTable(projection.former.table)) {
        const [row] = await query(`SELECT 1 AS one FROM signalbox.${projection.former.table} LIMIT 1`);
        if (row) onFormer(store);
      }
    }
    let estimate = 0;
    for (const { text } of known.flatMap(({ table }) => table.queries)) {
      const [plan] = await query(`EXPLAIN (FORMAT JSON) ${text}`);
      estimate += Number(plan?.['QUERY PLAN']?.[0]?.Plan?.['Plan Rows'] ?? 0);
    }
    onEstimate(estimate);
    for (const store of known) {
      const saved = store.createFilter && hasSnapshots ? await readSaved(query, store.table.name) : undefined;
      const { before, filter } = store.createFilter?.(saved) ?? passAll;
      yield { store, changes: [...before] };
      const { table, projection } = store;
      if (projection && table.projection) {
        const run = ({ text, values }: Statement) => query(text, values);
        const state = await readProjection(run, projection, table.projection, (damage) => onDamage(store, damage));
        for (const changes of state.save()) yield { store, changes };
      }
      for (const { text, toChange } of store.table.queries) {
        await query(`DECLARE rows NO SCROLL CURSOR FOR ${text}`);
        for (;;) {
          const rows = await query(`FETCH ${fetchedRows} FROM rows`);
          if (rows.length === 0) break;
          const changes = rows.map((row) => filter(toChange(row), row['seq']));
          yield { store, changes: changes.filter((change) => change !== undefined) };
        }
        await query('CLOSE rows');
      }
    }
    return true;
  } finally {
    connection.close();
  }
}

/** Resolves to the snapshot of a log if events were deleted from the log. Otherwise resolves to undefined. */
const readSaved = async (
  query: (text: string, values?: unknown[]) => Promise<Row[]>,
  table: string,
): Promise<{ seq: number; changes: unknown[] } | undefined> => {
  const [cut] = await query('SELECT 1 AS one FROM signalbox.projection WHERE name = $1 AND gone > 0', [table]);
  if (!cut) return undefined;
  const changes: unknown[] = [];
  const seq = await readSnapshot(
    ({ text, values }) => query(text, values),
    table,
    (body) => changes.push(...JSON.parse(body)),
  );
  return { seq, changes };
};

/** Opens the database for an import in a single transaction. Other instances wait for the transaction. */
export const openTablesForImport = async (url: string, stores: readonly PortableStore[]): Promise<ImportedStores> => {
  const connection = await new Primary(readPostgresUrl(url)).connect();
  const gates = new Map<PortableStore, Gate>();
  const lastSeqs = new Map<string, number>();
  const filled = new Set<PortableStore>();
  let occupied: string | undefined;
  try {
    await migrate(connection);
    await connection.query({ text: 'BEGIN; SET LOCAL lock_timeout = 2500' });
    // Writers lock in the same order, so that no deadlock can occur.
    for (const store of stores.toSorted((a, b) => (gateOf(a) < gateOf(b) ? -1 : 1))) {
      const [{ last_id: lastId, at, counts }] = (await connection.query(lockGate(gateOf(store)))) as [Row];
      gates.set(store, { lastId, at, counts });
      lastSeqs.set(store.name, lastId);
      if (lastId > 0 && !store.isJoined && !(await isUnused(connection, store))) occupied ??= store.name;
    }
  } catch (error) {
    connection.close();
    throw error;
  }
  return {
    occupied,
    pieceCount: 500,
    add: async (store, changes) => {
      const gate = gates.get(store);
      const lastSeq = lastSeqs.get(store.projection?.follows ?? '') ?? 0;
      filled.add(store);
      if (gate) await runAll(connection, store.table.insert(changes, gate, lastSeq));
    },
    save: () =>
      runAll(
        connection,
        Array.from(gates, ([store, gate]) => [
          storeGate(gateOf(store), gate),
          ...(filled.has(store) ? (store.table.finish?.() ?? []) : []),
        ]).flat(),
      ),
    commit: async () => {
      const { warnings } = connection;
      const [outcome] = await connection.run([{ text: 'COMMIT' }]);
      const isCommitted = outcome !== undefined && 'command' in outcome && outcome.command === 'COMMIT';
      // After a warning, the import may exist on only one server.
      return isCommitted && connection.warnings === warnings;
    },
    close: () => connection.close(),
  };
};

const gateOf = ({ table }: PortableStore): string => table.gate ?? table.name;

const isUnused = async (connection: Connection, { table }: PortableStore): Promise<boolean> => {
  if (table.isUnused === undefined) return false;
  const [row] = await connection.query({ text: `SELECT ${table.isUnused} AS "isUnused"` });
  return row.isUnused;
};
