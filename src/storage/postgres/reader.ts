import { setTimeout as pause } from 'node:timers/promises';
import { StoreUnavailable } from '../../lib/expected-errors.ts';
import { awaitWithin } from '../../lib/scheduling.ts';
import type { List } from '../list.ts';
import type { Connection, Row, Statement } from './connection.ts';
import { isMissing, isPassing, isRefusedValue, toDatabaseUnavailable, toValueRefusal } from './database-errors.ts';

/** Connections for short reads; each takes many statements at once. */
const connectionCount = 2;

/** Milliseconds between two attempts. */
const retryMs = 100;

/** How many reads may wait. */
const waitingCount = 10_000;

/** Long lists that are read at the same time, and first pages of lists. */
const mostSnapshots = 2;
const mostFirstPages = 16;

/** Milliseconds that a list waits for its place. */
const placeMs = 5000;

/** Milliseconds that a read may take which begins while the server stops: several features may read one after the other. */
const briefMs = 1000;

/** Milliseconds without a query after which a snapshot is closed: its reader has gone, or is too slow. */
const idleMs = 60_000;

/** Reads of one moment, on a connection of its own. */
export interface DatabaseSnapshot {
  /** Throws StoreUnavailable; the snapshot is closed then. */
  query(statement: Statement): Promise<Row[]>;
  close(): void;
}

/** Reads from the primary, so each instance reads what any other has written. */
export class DatabaseReader {
  readonly #openToRead: () => Promise<Connection>;
  readonly #open: () => Promise<Connection>;
  readonly #attemptsMs: number;
  readonly #connections: (Promise<Connection> | undefined)[] = Array.from({ length: connectionCount }, () => undefined);
  readonly #snapshots = new Places(mostSnapshots);
  readonly #firstPages = new Places(mostFirstPages);
  #next = 0;
  #waiting = 0;
  #isStopping = false;
  #isClosed = false;

  /** Snapshots are read from connections of `open`. A read is attempted again for `attemptsMs`; the last attempt may take 4 s more. */
  constructor(openToRead: () => Promise<Connection>, open: () => Promise<Connection>, attemptsMs: number) {
    this.#openToRead = openToRead;
    this.#open = open;
    this.#attemptsMs = attemptsMs;
  }

  async query(statement: Statement): Promise<Row[]> {
    if (this.#waiting >= waitingCount) throw new StoreUnavailable('Too many reads are waiting for the database');
    this.#waiting += 1;
    try {
      return await (this.#isStopping ? this.#attemptBriefly(statement) : this.#attempt(statement));
    } finally {
      this.#waiting -= 1;
    }
  }

  async queryFirstPage(statement: Statement): Promise<Row[]> {
    const leave = await this.#firstPages.take();
    return this.query(statement).finally(leave);
  }

  async openSnapshot(): Promise<DatabaseSnapshot> {
    const leave = await this.#snapshots.take();
    let connection: Connection | undefined;
    let isClosed = false;
    const close = (): void => {
      if (isClosed) return;
      isClosed = true;
      idle.close();
      connection?.close();
      leave();
    };
    const idle = setTimeout(close, idleMs).unref();
    const query = async (statement: Statement): Promise<Row[]> => {
      idle.refresh();
      try {
        connection ??= await this.#open();
        return await connection.query(statement);
      } catch (error) {
        close();
        throw toDatabaseUnavailable(error);
      }
    };
    await query({ text: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' });
    return { query, close };
  }

  /** From now on nothing is attempted again, so that what waits ends soon. */
  stop(): void {
    this.#isStopping = true;
  }

  /** Reads that have not ended get StoreUnavailable. */
  close(): void {
    this.#isStopping = true;
    this.#isClosed = true;
    for (const connection of this.#connections) connection?.then((opened) => opened.close()).catch(() => undefined);
  }

  async #attemptBriefly(statement: Statement): Promise<Row[]> {
    const rows = await awaitWithin(briefMs, this.#attempt(statement));
    if (!rows) throw new StoreUnavailable('The server is stopping');
    return rows;
  }

  async #attempt(statement: Statement): Promise<Row[]> {
    const lastAttemptAt = performance.now() + this.#attemptsMs;
    for (;;) {
      let connection: Connection | undefined;
      try {
        connection = await this.#connect();
        return await connection.query(statement);
      } catch (error) {
        if (isRefusedValue(error)) throw toValueRefusal(error);
        if (isMissing(error)) connection?.close();
        if (this.#isStopping || !isPassing(error) || performance.now() > lastAttemptAt)
          throw toDatabaseUnavailable(error);
        await pause(retryMs);
      }
    }
  }

  /** One of the connections, in turn; opened if it has ended. */
  async #connect(): Promise<Connection> {
    this.#next = (this.#next + 1) % connectionCount;
    const place = this.#next;
    const opened = this.#connections[place];
    if (opened && (await opened.catch(() => undefined))?.isOpen) return opened;
    // A connection that nobody closes would keep the process running.
    if (this.#isClosed) throw new StoreUnavailable('The server is stopping');
    // Another caller may have replaced it meanwhile.
    if (this.#connections[place] === opened) this.#connections[place] = this.#openToRead();
    return this.#connections[place] as Promise<Connection>;
  }
}

/** Lets a number of callers work at the same time, first come first served. */
class Places {
  readonly #line: (() => void)[] = [];
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  /** Resolves to the function that gives the place back, to be called once. Throws StoreUnavailable if none comes in time. */
  async take(): Promise<() => void> {
    if (this.#free > 0) this.#free -= 1;
    else await this.#waitInLine();
    return () => {
      const next = this.#line.shift();
      if (next) next();
      else this.#free += 1;
    };
  }

  #waitInLine(): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#line.splice(this.#line.indexOf(begin), 1);
        reject(new StoreUnavailable('Too many lists are being read; try again later'));
      }, placeMs).unref();
      this.#line.push(begin);
    });
  }
}

/** Rows that are read at once, and bytes of their bodies, unless one alone has more. */
const pageRows = 1000;
const pageBytes = 1024 * 1024;

/** The same for the first page: many clients read one at the same time. */
const firstBytes = 512 * 1024;

/** What lists are read with. */
type Pages = Pick<DatabaseReader, 'queryFirstPage' | 'openSnapshot'>;

/** What to list: rows of a table with these conditions, which contain no text of clients. */
interface Selection {
  table: string;
  conditions: readonly string[];
  /** Values of parameters in them and in `total`. */
  values?: unknown[];
  /** The id, as the index has it. */
  id: string;
  /** Whether rows are listed from the highest id on downwards. */
  isBack?: boolean;
  /** An expression over the row of the gate with this name: the number of all matches. */
  gate: string;
  total: string;
}

/** What was selected, in the order of ids; `next` is the last id, if there are more matches after `limit`. */
interface SelectedList<T extends object> extends List<T> {
  next?: number;
}

/**
 * At most `limit` rows with ids above `after`. A short list is read at once; a longer one page by page, on a connection of
 * its own, as of one moment. `toPiece` gets the bodies of a page.
 */
export const readPages = async <T extends object>(
  database: Pages,
  selection: Selection,
  limit: number,
  after: number,
  toPiece: (bodies: readonly string[]) => Iterable<T>,
): Promise<SelectedList<T>> => {
  const { total, rows } = await readFirstPage(database, selection, limit, after, firstBytes);
  const isCut = rows.slice(0, limit).some(isBodiless) || (limit > pageRows && rows.length > pageRows);
  if (isCut) return readLongList(await database.openSnapshot(), selection, limit, after, toPiece);
  const bodies = rows.slice(0, limit).map(({ body }) => body);
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return {
    total,
    count: bodies.length,
    pieces: [toPiece(bodies)],
    ...(last && { next: last.id }),
  };
};

const readLongList = async <T extends object>(
  snapshot: DatabaseSnapshot,
  selection: Selection,
  limit: number,
  after: number,
  toPiece: (bodies: readonly string[]) => Iterable<T>,
): Promise<SelectedList<T>> => {
  const [{ total, found }] = await snapshot.query({ text: selectCounts(selection, limit, after) });
  const count = Math.min(found, limit);
  const [last] = found > limit ? await snapshot.query({ text: selectLast(selection, limit, after) }) : [];
  const pieces = (async function* () {
    try {
      let read = after;
      for (let left = count; left > 0; ) {
        const rows = await snapshot.query({ text: selectPage(selection, Math.min(left, pageRows), read, pageBytes) });
        const page = rows.filter((row) => !isBodiless(row));
        yield toPiece(page.map(({ body }) => body));
        left -= page.length;
        read = page.at(-1).id;
      }
    } finally {
      snapshot.close();
    }
  })();
  return { total, count, pieces, ...(last && { next: last.id }) };
};

/**
 * The first page of rows after an id (or before it), as of one moment with the total. There may be a row more than wanted,
 * which shows that there are more; rows without a body do not fit into `bytes`.
 */
export const readFirstPage = async (
  database: Pages,
  selection: Selection,
  limit: number,
  from: number,
  bytes: number,
): Promise<{ total: number; rows: Row[] }> => {
  const { total, gate, values = [], isBack } = selection;
  const rows = await database.queryFirstPage({
    text: `SELECT ${total} AS total, page.id, page.body FROM signalbox.gate AS gate
      LEFT JOIN LATERAL (${selectPage(selection, Math.min(limit, pageRows) + 1, from, bytes)}) AS page ON true
      WHERE gate.name = '${gate}' ORDER BY page.id ${isBack ? 'DESC' : 'ASC'}`,
    values,
  });
  return { total: rows[0]?.total ?? 0, rows: rows.filter(({ id }) => id !== null) };
};

const selectPage = (selection: Selection, limit: number, from: number, bytes: number): string => {
  const order = selection.isBack ? 'DESC' : 'ASC';
  return `SELECT id, CASE WHEN before < ${bytes} THEN body END AS body FROM (
    SELECT id, body, sum(octet_length(body)) OVER (ORDER BY id ${order}) - octet_length(body) AS before FROM (
      SELECT id, body FROM ${fromMatches(selection, from)} ORDER BY ${selection.id} ${order} LIMIT ${limit}
    ) AS found
  ) AS sized ORDER BY id ${order}`;
};

/** The total, and how many rows there are, counted as far as one above the limit; all from the first on are the total. */
const selectCounts = (selection: Selection, limit: number, after: number): string => {
  const { gate, total } = selection;
  const counted = `(SELECT count(*) FROM (SELECT 1 FROM ${fromMatches(selection, after)} LIMIT ${limit + 1}) AS found)`;
  return `SELECT ${total} AS total, ${after > 0 ? counted : total} AS found FROM signalbox.gate AS gate
    WHERE gate.name = '${gate}'`;
};

/** The id of the last row that the limit allows. */
const selectLast = (selection: Selection, limit: number, after: number): string =>
  `SELECT id FROM ${fromMatches(selection, after)} ORDER BY ${selection.id} LIMIT 1 OFFSET ${limit - 1}`;

const fromMatches = ({ table, conditions, id, isBack }: Selection, from: number): string =>
  `signalbox.${table} WHERE ${[...conditions, `${id} ${isBack ? '<' : '>'} ${from}`].join(' AND ')}`;

export const isBodiless = ({ body }: Row): boolean => body === null;
