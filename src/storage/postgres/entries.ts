import { completeEntries, type EntryChange, type EntryKind, type EntryStore } from '../entries.ts';
import type { PortableTable } from '../portable-store.ts';
import type { Collection } from './batch.ts';
import type { Statement } from './connection.ts';
import type { Database } from './database.ts';
import { readPages } from './pages.ts';

/** Entries to add. */
interface Addition<Fields> {
  fields: readonly Fields[];
  /** True to add the entries only if the table is empty. */
  ifEmpty: boolean;
}

/**
 * Creates a store of entries in a table that instances share. The table has places, counted from 1 without gaps, and
 * bodies as JSON.
 */
export const createPostgresEntryStore = <Fields, T extends object>(
  kind: EntryKind<Fields, T>,
  database: Database,
  clock: () => Date,
): EntryStore<Fields, T> => {
  const collection = createCollection(kind, clock);
  const selection = { table: kind.table, conditions: [], id: 'id', gate: kind.table, total: 'gate.last_id' };
  const add = (fields: readonly Fields[], ifEmpty: boolean) => database.write(collection, { fields, ifEmpty });
  return {
    add: async (fields) => {
      const [entry] = await add([fields], false);
      return entry as T;
    },
    find: async (place) => {
      if (!Number.isSafeInteger(place)) return undefined;
      const text = `SELECT body FROM signalbox.${kind.table} WHERE id = $1`;
      const [row] = await database.query({ text, values: [place] });
      return row && JSON.parse(row.body);
    },
    list: async (start = 0, limit = Number.MAX_SAFE_INTEGER) => {
      const from = Math.min(start, Number.MAX_SAFE_INTEGER);
      const { total, count, pieces } = await readPages(database, selection, limit, from, parseBodies<T>);
      return { total, count, pieces };
    },
    restore: async (fields) => {
      await add(fields, true);
    },
    isReady: () => database.isReady(),
    // The storage closes the database.
    close: () => undefined,
  };
};

const parseBodies = <T>(bodies: readonly string[]): T[] => bodies.map((body) => JSON.parse(body));

const createCollection = <Fields, T extends object>(
  kind: EntryKind<Fields, T>,
  clock: () => Date,
): Collection<Addition<Fields>, T[]> => ({
  name: kind.table,
  read: () => (kind.numbers ? [{ text: `SELECT number FROM signalbox.${kind.numbers.table}` }] : []),
  decide: (changes, [numbers = []], gate) => {
    const first = gate.lastId + 1;
    const accepted = changes.map(({ fields, ifEmpty }) => {
      const some = ifEmpty && gate.lastId > 0 ? [] : fields;
      gate.lastId += some.length;
      return some;
    });
    gate.at = Math.max(gate.at, clock().getTime());
    const entries = completeEntries(kind, accepted.flat(), first, new Set(numbers.map(({ number }) => number)));
    const left = [...entries];
    return {
      decisions: accepted.map(({ length }) => ({ result: left.splice(0, length) })),
      statements: entries.length === 0 ? [] : insertEntries(kind, first, entries),
    };
  },
});

const insertEntries = <Fields, T extends object>(
  { table, numbers }: EntryKind<Fields, T>,
  firstPlace: number,
  entries: readonly T[],
): Statement[] => {
  const places = entries.map((_, index) => firstPlace + index);
  const bodies = entries.map((entry) => JSON.stringify(entry));
  const insert = {
    text: `INSERT INTO signalbox.${table} SELECT * FROM unnest($1::bigint[], $2::text[])`,
    values: [places, bodies],
  };
  if (!numbers) return [insert];
  // Numbers can repeat once all are taken.
  const text = `INSERT INTO signalbox.${numbers.table} SELECT unnest($1::int[]) ON CONFLICT DO NOTHING`;
  return [insert, { text, values: [entries.map(numbers.of)] }];
};

/** Creates the table of entries for `signalbox export` and `import`. */
export const createEntryTable = <Fields, T extends object>(
  kind: EntryKind<Fields, T>,
): PortableTable<EntryChange<T>> => ({
  name: kind.table,
  queries: [
    {
      text: `SELECT id, body FROM signalbox.${kind.table} ORDER BY id`,
      toChange: ({ id, body }) => ({ index: id - 1, entry: JSON.parse(body) }),
    },
  ],
  insert: (changes, gate) => {
    const first = gate.lastId + 1;
    gate.lastId += changes.length;
    const entries = changes.map(({ entry }) => entry);
    return insertEntries(kind, first, entries);
  },
});
