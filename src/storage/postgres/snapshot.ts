import type { Connection, Row, Statement } from './connection.ts';
import { toUnavailable } from './errors.ts';

/** Rows that are fetched at once. */
const fetched = 500;

/** Milliseconds until a snapshot is closed whose rows nobody has begun to read. */
const unreadMs = 5000;

/** Reads of one moment, on a connection of its own. */
export interface Snapshot {
  query(statement: Statement): Promise<Row[]>;
  /** The rows of a query without parameters, some at a time; closes the snapshot at its end. */
  read(text: string): AsyncGenerator<Row[]>;
  close(): void;
}

/** Calls `onClose` once when it is closed, or cannot be opened; then it throws StoreUnavailable. */
export const openSnapshot = async (open: () => Promise<Connection>, onClose: () => void): Promise<Snapshot> => {
  let connection: Connection | undefined;
  let isClosed = false;
  const unread = setTimeout(() => close(), unreadMs).unref();
  const close = (): void => {
    if (isClosed) return;
    isClosed = true;
    clearTimeout(unread);
    connection?.close();
    onClose();
  };
  const query = async (statement: Statement): Promise<Row[]> => {
    try {
      connection ??= await open();
      return await connection.query(statement);
    } catch (error) {
      close();
      throw toUnavailable(error);
    }
  };
  await query({ text: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' });
  return {
    query,
    close,
    async *read(text) {
      clearTimeout(unread);
      try {
        await query({ text: `DECLARE rows NO SCROLL CURSOR FOR ${text}` });
        for (;;) {
          const rows = await query({ text: `FETCH ${fetched} FROM rows` });
          if (rows.length === 0) return;
          yield rows;
        }
      } finally {
        close();
      }
    },
  };
};
