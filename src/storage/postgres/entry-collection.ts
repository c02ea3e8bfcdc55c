import type { List } from '../list.ts';
import type { Row, Statement } from './connecting/connection.ts';
import type { Database } from './database.ts';
import { insertEntries } from './moved-tables.ts';
import { readPages } from './reading/list-pages.ts';
import type { Collection } from './writing/gated-collection.ts';

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
  const selection = { table: name, conditions: [], id: 'id', gate: name, total: 'gate.last_id' };
  const from = Math.min(start, Number.MAX_SAFE_INTEGER);
  const { total, count, pages } = await readPages(database, selection, limit, from);
  const toEntries = (bodies: readonly string[]): T[] => bodies.map((body) => JSON.parse(body));
  const pieces = Array.isArray(pages)
    ? pages.map(toEntries)
    : (async function* () {
        for await (const bodies of pages) yield toEntries(bodies);
      })();
  return { total, count, pieces };
};
