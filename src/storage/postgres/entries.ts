import type { List } from '../list.ts';
import type { Collection } from './collection.ts';
import type { Row, Statement } from './connection.ts';
import type { Database } from './database.ts';
import { insertEntries } from './tables.ts';

/** Longer lists are read with a cursor. */
const mostAtOnce = 1000;

/** Entries to add, with `ifEmpty` only where there is none. */
export interface Addition<Fields> {
  fields: readonly Fields[];
  ifEmpty: boolean;
}

/** Entries that are added and never changed, in a table of their ids, from 1 without gaps, and JSON bodies. */
export interface Entries<Fields, T extends object> {
  /** The table, and the name of the gate. */
  name: string;
  /** Reads what completing entries needs. */
  read: Statement[];
  /** Completes fields to entries; `nextId` is the id of the first. */
  complete(fields: readonly Fields[], nextId: number, rows: readonly Row[][]): T[];
  /** Stores more than the entries. */
  store(entries: readonly T[]): Statement[];
}

export const createEntryCollection = <Fields, T extends object>(
  { name, read, complete, store }: Entries<Fields, T>,
  clock: () => Date,
): Collection<Addition<Fields>, T[]> => ({
  name,
  read: () => read,
  decide: (changes, rows, gate) => {
    const first = gate.lastId + 1;
    const taken = changes.map(({ fields, ifEmpty }) => {
      const accepted = ifEmpty && gate.lastId > 0 ? [] : fields;
      gate.lastId += accepted.length;
      return accepted;
    });
    gate.at = Math.max(gate.at, clock().getTime());
    const entries = complete(taken.flat(), first, rows);
    const ids = entries.map((_, index) => first + index);
    const left = [...entries];
    return {
      decisions: taken.map(({ length }) => ({ result: left.splice(0, length) })),
      statements: entries.length === 0 ? [] : [insertEntries(name, ids, entries), ...store(entries)],
    };
  },
});

/** At most `limit` entries after the first `start`; `total` counts all. */
export const listEntries = async <T extends object>(
  database: Database,
  name: string,
  start = 0,
  limit = Number.MAX_SAFE_INTEGER,
): Promise<List<T>> => {
  const from = Math.min(start, Number.MAX_SAFE_INTEGER);
  const select = (most: number): string =>
    `SELECT body FROM signalbox.${name} WHERE id > ${from} ORDER BY id LIMIT ${most}`;
  const toPiece = (rows: readonly Row[]): T[] => rows.flatMap(({ body }) => (body === null ? [] : JSON.parse(body)));
  const toCount = (total: number): number => Math.max(0, Math.min(total - from, limit));
  // One statement sees one moment.
  const rows = await database.query({
    text: `SELECT gate.last_id AS total, t.body FROM signalbox.gate AS gate
      LEFT JOIN LATERAL (${select(Math.min(limit, mostAtOnce))}) AS t ON true WHERE gate.name = '${name}'`,
  });
  const { total } = rows[0];
  if (toCount(total) <= mostAtOnce) return { total, count: toCount(total), pieces: [toPiece(rows)] };
  const snapshot = await database.openSnapshot();
  const [now] = await snapshot.query({ text: `SELECT last_id AS total FROM signalbox.gate WHERE name = '${name}'` });
  const pieces = (async function* () {
    for await (const some of snapshot.read(select(limit))) yield toPiece(some);
  })();
  return { total: now.total, count: toCount(now.total), pieces };
};
