import { SettingsError } from '../../config/settings-error.ts';
import type { Transfer } from '../../profiles/feature.ts';
import { type Address, readPostgresUrl } from '../../storage/postgres/address.ts';
import type { Connection, Row, Statement } from '../../storage/postgres/connection.ts';
import { explainUnreachable } from '../../storage/postgres/database-errors.ts';
import type { ReadChanges, Target } from './lines.ts';

/** Rows that are fetched together: few, since each may have 1 MiB. */
const fetchedRows = 50;

/** Changes that are stored together. */
const pieceRows = 500;

/** Characters of changes that are stored together. */
const pieceLength = 1024 * 1024;

/**
 * Opens the database for reading, as of this moment. Throws a SettingsError for one that cannot be used, or that no
 * signalbox has used yet.
 */
export const openSource = async (store: string): Promise<{ read: ReadChanges; close(): void }> => {
  const connection = await open(store);
  const query = (text: string): Promise<Row[]> => connection.query({ text }).catch(refuse);
  try {
    const [found] = await query(`SELECT to_regclass('signalbox.schema') IS NOT NULL AS "isThere"`);
    if (!found.isThere) throw new SettingsError(['store: the database has nothing to export']);
    await prepare(connection);
    await query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  } catch (error) {
    connection.close();
    throw error;
  }
  return {
    read: async function* ({ tables }) {
      for (const { text, toChange } of tables.queries) {
        await query(`DECLARE rows NO SCROLL CURSOR FOR ${text}`);
        for (;;) {
          const rows = await query(`FETCH ${fetchedRows} FROM rows`);
          if (rows.length === 0) break;
          yield rows.map(toChange);
        }
        await query('CLOSE rows');
      }
    },
    close: () => connection.close(),
  };
};

/**
 * Opens the database for an import, in one transaction; instances that use it wait meanwhile. Throws a SettingsError for one
 * that cannot be used, or that is not empty.
 */
export const openDatabaseTarget = async (store: string, transfers: readonly Transfer[]): Promise<Target> => {
  const connection = await open(store);
  const run = async (statements: readonly Statement[]): Promise<Row[]> => {
    const outcomes = await connection.run(statements);
    for (const outcome of outcomes) if ('error' in outcome) throw outcome.error;
    const last = outcomes.at(-1);
    return last && 'rows' in last ? last.rows : [];
  };
  try {
    await prepare(connection);
    await run([{ text: 'BEGIN; SET LOCAL lock_timeout = 2500' }]).catch(refuse);
    for (const { name, tables } of transfers.toSorted((a, b) => (a.tables.name < b.tables.name ? -1 : 1))) {
      const [found] = await run(tables.claim).catch(refuse);
      if (found) throw new SettingsError([`the store has or had ${name} already; import into an empty one`]);
    }
  } catch (error) {
    connection.close();
    throw error;
  }
  const begun = new Map(transfers.map((transfer) => [transfer, transfer.tables.begin()]));
  let waiting: { transfer: Transfer; changes: unknown[]; length: number } | undefined;
  const flush = async (): Promise<void> => {
    if (!waiting) return;
    const { transfer, changes } = waiting;
    waiting = undefined;
    await run(begun.get(transfer)?.store(changes) ?? []);
  };
  return {
    apply: async (transfer, change, length) => {
      if (waiting?.transfer !== transfer) await flush();
      waiting ??= { transfer, changes: [], length: 0 };
      waiting.changes.push(change);
      waiting.length += length;
      if (waiting.changes.length >= pieceRows || waiting.length > pieceLength) await flush();
    },
    store: async () => {
      try {
        await flush();
        for (const { finish } of begun.values()) await run(finish());
      } catch (error) {
        throw new SettingsError([`nothing was imported: ${(error as Error).message}`]);
      }
      await commit(connection);
    },
    close: async () => connection.close(),
  };
};

/** A commit after which the server has warned may be on one server alone. */
const commit = async (connection: Connection): Promise<void> => {
  const { warnings } = connection;
  const [outcome] = await connection.run([{ text: 'COMMIT' }]);
  if (outcome && 'command' in outcome && outcome.command === 'COMMIT' && connection.warnings === warnings) return;
  throw new SettingsError([
    'the database has not confirmed the import: signalbox export shows whether everything is there',
  ]);
};

const open = async (store: string): Promise<Connection> => {
  // The driver takes memory and time to load, which only those pay who use it.
  const { Primary } = await import('../../storage/postgres/connection.ts');
  return new Primary(readAddress(store)).connect().catch(refuse);
};

const readAddress = (store: string): Address => {
  try {
    return readPostgresUrl(store);
  } catch (error) {
    throw new SettingsError([`store: ${(error as Error).message}`]);
  }
};

const prepare = async (connection: Connection): Promise<void> => {
  const { migrate } = await import('../../storage/postgres/schema.ts');
  await migrate(connection).catch(refuse);
};

const refuse = (error: Error): never => {
  throw new SettingsError([`store: the database cannot be used: ${explainUnreachable(error) ?? error.message}`]);
};
