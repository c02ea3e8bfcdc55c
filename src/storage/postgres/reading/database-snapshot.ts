import type { Connection, Row, Statement } from '../connecting/connection.ts';
import { toUnavailable } from '../connecting/database-errors.ts';

/** Milliseconds without a query after which a snapshot is closed: its reader has gone, or is too slow. */
const idleMs = 60_000;

/** Reads of one moment, on a connection of its own. */
export interface Snapshot {
  /** Throws StoreUnavailable; the snapshot is closed then. */
  query(statement: Statement): Promise<Row[]>;
  close(): void;
}

/** Calls `onClose` once when it is closed, or cannot be opened; then it throws StoreUnavailable. */
export const openSnapshot = async (open: () => Promise<Connection>, onClose: () => void): Promise<Snapshot> => {
  let connection: Connection | undefined;
  let isClosed = false;
  const close = (): void => {
    if (isClosed) return;
    isClosed = true;
    idle.close();
    connection?.close();
    onClose();
  };
  const idle = setTimeout(close, idleMs).unref();
  const query = async (statement: Statement): Promise<Row[]> => {
    idle.refresh();
    try {
      connection ??= await open();
      return await connection.query(statement);
    } catch (error) {
      close();
      throw toUnavailable(error);
    }
  };
  await query({ text: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' });
  return { query, close };
};
