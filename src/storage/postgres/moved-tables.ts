import type { ImportTarget, MovedStore, MovedTable } from '../moved-store.ts';
import { readPostgresUrl } from './connecting/address.ts';
import type { Connection, Row, Statement } from './connecting/connection.ts';
import { Primary } from './connecting/primary.ts';
import { migrate } from './migrations/migrate.ts';
import { lockGate, storeGate } from './writing/batch.ts';
import type { Gate } from './writing/gated-collection.ts';

/** Rows that are fetched together: few, since each may have 1 MiB. */
const fetchedRows = 50;

/** Opens the database for reading, as of this moment; undefined if no signalbox has used it yet. */
export const openTables = async (url: string) => {
  const connection = await new Primary(readPostgresUrl(url)).connect();
  try {
    const [found] = await connection.query({ text: `SELECT to_regclass('signalbox.schema') IS NOT NULL AS "isThere"` });
    if (!found.isThere) {
      connection.close();
      return undefined;
    }
    await migrate(connection);
    await connection.query({ text: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' });
  } catch (error) {
    connection.close();
    throw error;
  }
  return {
    read: ({ table }: MovedStore) => readTable(connection, table),
    close: () => connection.close(),
  };
};

async function* readTable(connection: Connection, { queries }: MovedTable): AsyncGenerator<unknown[]> {
  for (const { text, toChange } of queries) {
    await connection.query({ text: `DECLARE rows NO SCROLL CURSOR FOR ${text}` });
    for (;;) {
      const rows = await connection.query({ text: `FETCH ${fetchedRows} FROM rows` });
      if (rows.length === 0) break;
      yield rows.map(toChange);
    }
    await connection.query({ text: 'CLOSE rows' });
  }
}

/** Opens the database for an import, in one transaction; instances that use it wait meanwhile. */
export const openEmptyTables = async (url: string, stores: readonly MovedStore[]): Promise<ImportTarget> => {
  const connection = await new Primary(readPostgresUrl(url)).connect();
  const gates = new Map<MovedStore, Gate>();
  try {
    await migrate(connection);
    await connection.query({ text: 'BEGIN; SET LOCAL lock_timeout = 2500' });
    // In the order of writers, so none waits for another.
    for (const store of stores.toSorted((a, b) => (a.table.name < b.table.name ? -1 : 1))) {
      const [{ last_id: lastId, at, counts }] = (await connection.query(lockGate(store.table.name))) as [Row];
      gates.set(store, { lastId, at, counts });
    }
  } catch (error) {
    connection.close();
    throw error;
  }
  const run = async (statements: readonly Statement[]): Promise<void> => {
    for (const outcome of await connection.run(statements)) if ('error' in outcome) throw outcome.error;
  };
  return {
    occupied: [...gates].find(([, { lastId }]) => lastId > 0)?.[0].name,
    pieceCount: 500,
    add: async (store, changes) => {
      const gate = gates.get(store);
      if (gate) await run(store.table.insert(changes, gate));
    },
    save: () => run(Array.from(gates, ([{ table }, gate]) => storeGate(table.name, gate))),
    commit: async () => {
      const { warnings } = connection;
      const [outcome] = await connection.run([{ text: 'COMMIT' }]);
      const isCommitted = outcome !== undefined && 'command' in outcome && outcome.command === 'COMMIT';
      // After a warning, it may be on one server alone.
      return isCommitted && connection.warnings === warnings;
    },
    close: () => connection.close(),
  };
};
