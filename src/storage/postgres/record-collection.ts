import { RepeatRefusal } from '../../lib/expected-errors.ts';
import { dayMs } from '../../lib/units.ts';
import type { LogRecord } from '../journal/line.ts';
import type { PortableRecord, PortableTable } from '../portable-store.ts';
import { rememberedMs } from '../recent-entries.ts';
import { type Collection, type Decision, type Gate, toColumns } from './batch.ts';
import type { Row, Statement } from './connection.ts';
import { toLevel } from './record-search.ts';

/** Key of a record. The record is a repeat if the last record with the same hash has the same state. */
export interface RowRepeatId {
  hash: string;
  state: string;
  /** True if a record with a different state is refused with a RepeatRefusal. */
  isOnce: boolean;
  /**
   * Milliseconds after the first record, or the last reminder, after which a repeat is added as a reminder. The member
   * `repeatOf` of the reminder is the id of the first record. A reminder still counts as a repeat.
   */
  remindAfterMs?: number | undefined;
}

/** Record to add. */
export interface NewRecord {
  /** Id of the record, a UUID. */
  id: string;
  /** Time in milliseconds since 1970. */
  at: number;
  /** Level under which the record is counted. Null for text that the column cannot store. */
  level: string | null;
  /** Body as JSON without U+0000. */
  body: string;
  key?: RowRepeatId | undefined;
  /** True for a feature event. Feature events go to a second table with the same sequence of seqs. */
  isEvent?: boolean;
}

/** Returns the name of the table of feature events. */
export const toEventTable = (table: string): string => `${table}_event`;

/** Row of a record. */
type StoredRow = Omit<NewRecord, 'key'> & { seq: number };

/** Records that are added together. */
export interface RecordChange {
  records: readonly NewRecord[];
  /**
   * True if the records have already been acknowledged. The table may then already have some of them, and none is
   * refused.
   */
  isAcknowledged: boolean;
}

/** Position of a record or, for a repeat, of the record that it repeats. */
export interface Placed {
  id: string;
  seq: number | undefined;
  isRepeat: boolean;
}

/** Stored key of a record. */
interface RememberedKey {
  hash: string;
  state: string;
  /** Id of the record. */
  id: string;
  /** Time in milliseconds since 1970. */
  at: number;
}

/** Returns the hash under which the last reminder of a series is stored. */
const toReminderHash = (hash: string): string => `${hash} reminder`;

/**
 * Creates the collection of records in the table and gate with this name. Each row names the instance that added it.
 */
export const createRecordCollection = (
  name: 'alert' | 'audit' | 'setting' | 'heartbeat' | 'availability' | 'status_page',
  instance: string,
  clock: () => Date,
): Collection<RecordChange, Placed[]> => ({
  name,
  read: (changes) => {
    const ids = changes.flatMap(({ records, isAcknowledged }) => (isAcknowledged ? records.map(({ id }) => id) : []));
    const hashes = changes.flatMap(({ records }) => records.flatMap(({ key }) => listHashes(key)));
    if (ids.length === 0 && hashes.length === 0) return [];
    return [
      { text: `SELECT id, seq FROM signalbox.${name} WHERE id = ANY($1::uuid[])`, values: [ids] },
      {
        text: 'SELECT hash, state, id, at FROM signalbox.repeat WHERE hash = ANY($1) AND at > $2',
        values: [hashes, clock().getTime() - rememberedMs],
      },
    ];
  },
  decide: (changes, [rows = [], keys = []], gate) => {
    const now = clock().getTime();
    const batch = new RecordBatch(rows, keys, gate, now);
    gate.at = Math.max(gate.at, now);
    const decisions = changes.map((change) => batch.decide(change));
    return { decisions, statements: batch.toStatements(name, instance) };
  },
});

const listHashes = (key: RowRepeatId | undefined): string[] =>
  key ? [key.hash, ...(key.remindAfterMs === undefined ? [] : [toReminderHash(key.hash)])] : [];

class RecordBatch {
  readonly #gate: Gate;
  /** Seqs of the records in the table, by id. */
  readonly #seqs: Map<string, number>;
  readonly #keys: Map<string, RememberedKey>;
  readonly #added: StoredRow[] = [];
  readonly #addedKeys = new Map<string, RememberedKey>();
  readonly #now: number;

  constructor(rows: readonly Row[], keys: readonly Row[], gate: Gate, now: number) {
    this.#gate = gate;
    this.#now = now;
    this.#seqs = new Map(rows.map(({ id, seq }) => [id, seq]));
    this.#keys = new Map(keys.map((key) => [key.hash, key as RememberedKey]));
  }

  decide({ records, isAcknowledged }: RecordChange): Decision<Placed[]> {
    const isRefused = ({ key }: NewRecord): boolean =>
      key?.isOnce === true && (this.#keys.get(key.hash)?.state ?? key.state) !== key.state;
    if (!isAcknowledged && records.some(isRefused)) return { refusal: new RepeatRefusal() };
    return { result: records.map((record) => this.#place(record)) };
  }

  #place(record: NewRecord): Placed {
    const { id, key } = record;
    const stored = this.#seqs.get(id);
    if (stored !== undefined) return { id, seq: stored, isRepeat: false };
    const known = key && this.#keys.get(key.hash);
    if (known && known.state === key.state) {
      const isDue = this.#isDue(key, known);
      const seq = isDue ? this.#add(toReminder(record, known.id), toReminderHash(key.hash), key.state) : undefined;
      return { id: known.id, seq, isRepeat: true };
    }
    return { id, seq: this.#add(record, key?.hash, key?.state), isRepeat: false };
  }

  #isDue({ hash, remindAfterMs = Number.POSITIVE_INFINITY }: RowRepeatId, first: RememberedKey): boolean {
    const last = this.#keys.get(toReminderHash(hash)) ?? first;
    return this.#now - Math.max(last.at, first.at) >= remindAfterMs;
  }

  /** Adds the record and, if `hash` is given, its key. Returns the seq. */
  #add(record: NewRecord, hash: string | undefined, state = ''): number {
    const { id } = record;
    this.#gate.lastId += 1;
    const seq = this.#gate.lastId;
    this.#seqs.set(id, seq);
    this.#added.push({ ...record, seq });
    if (hash !== undefined) {
      const known = { hash, state, id, at: this.#now };
      this.#keys.set(hash, known);
      this.#addedKeys.set(hash, known);
    }
    return seq;
  }

  toStatements(name: string, instance: string): Statement[] {
    if (this.#added.length === 0) return [];
    const statements = [
      { table: name, rows: this.#added.filter(({ isEvent }) => !isEvent) },
      { table: toEventTable(name), rows: this.#added.filter(({ isEvent }) => isEvent) },
    ].flatMap(({ table, rows }) => (rows.length > 0 ? [insertRecords(table, instance, rows)] : []));
    for (const insert of statements) insert.text += ' ON CONFLICT (id) DO NOTHING';
    const keys = [...this.#addedKeys.values()];
    return keys.length === 0 ? statements : [...statements, rememberKeys(keys)];
  }
}

const toReminder = (record: NewRecord, repeatOf: string): NewRecord => ({
  ...record,
  body: JSON.stringify({ ...JSON.parse(record.body), repeatOf }),
});

/** Returns the statement that adds records. A duplicate id is an error. */
const insertRecords = (table: string, instance: string, rows: readonly StoredRow[]): Statement => ({
  text: `INSERT INTO signalbox.${table} (seq, id, at, level, body, instance)
    SELECT u.*, $6::text FROM unnest($1::bigint[], $2::uuid[], $3::bigint[], $4::text[], $5::text[]) AS u`,
  values: [...toColumns(rows, 'seq', 'id', 'at', 'level', 'body'), instance],
});

/** Returns the statement that stores keys with distinct hashes, replacing earlier keys. */
const rememberKeys = (keys: readonly RememberedKey[]): Statement => ({
  text: `INSERT INTO signalbox.repeat (hash, state, id, at)
    SELECT * FROM unnest($1::text[], $2::text[], $3::uuid[], $4::bigint[])
    ON CONFLICT (hash) DO UPDATE SET state = excluded.state, id = excluded.id, at = excluded.at`,
  values: toColumns(keys, 'hash', 'state', 'id', 'at'),
});

type Key = Pick<RememberedKey, 'hash' | 'state'>;

/** Functions that return the values for the columns of the table. */
interface Columns {
  /** Returns the time in milliseconds since 1970. Undefined for a record without a time. */
  timeOf(record: LogRecord): number | undefined;
  levelOf?(record: LogRecord): unknown;
  /**
   * True if a second table has feature events. Their projection does not fold imported records that are older than a
   * day.
   */
  hasEvents?: boolean;
  /** Functions that read and add the key of a record. The table may store keys separately from records. */
  keys?: {
    read(record: LogRecord): Key | undefined;
    add(record: LogRecord, key: Key): LogRecord;
  };
}

/** Instance of imported records. No instance received them, so none delivers them. */
const noInstance = '';

/** Creates the table of a log for export and import. Imported records keep their ids and get seqs from 1 onwards. */
export const createRecordTable = (
  name: 'alert' | 'audit' | 'setting' | 'heartbeat' | 'availability' | 'status_page',
  { timeOf, levelOf = () => null, keys, hasEvents = false }: Columns,
): PortableTable<PortableRecord> => ({
  name,
  queries: [
    {
      text: keys
        ? `SELECT seq, log.id, body, hash, state FROM signalbox.${name} AS log
            LEFT JOIN signalbox.repeat ON repeat.id = log.id ORDER BY seq`
        : `SELECT seq, id, body FROM signalbox.${name} ORDER BY seq`,
      toChange: ({ seq, id, body, hash, state }) => {
        const record: LogRecord = JSON.parse(body);
        const lacksKey = keys && typeof hash === 'string' && keys.read(record) === undefined;
        return { id, record: lacksKey ? keys.add(record, { hash, state }) : record, seq };
      },
    },
  ],
  insert: (records, gate) => {
    const now = Date.now();
    const remembered = new Map<string, RememberedKey>();
    const rows = records.map(({ id, record }) => {
      const at = timeOf(record) ?? now;
      const key = keys?.read(record);
      if (key && now - at < rememberedMs) remembered.set(key.hash, { ...key, id, at });
      gate.lastId += 1;
      return { seq: gate.lastId, id, at, level: toLevel(levelOf(record)), body: JSON.stringify(record) };
    });
    const insert = insertRecords(name, noInstance, rows);
    return remembered.size > 0 ? [insert, rememberKeys([...remembered.values()])] : [insert];
  },
  ...(hasEvents && {
    finish: () => [passOld(name)],
    // All assigned ids belong to events that still exist.
    isUnused: `(SELECT last_id FROM signalbox.gate WHERE name = '${name}') = (SELECT count(*) FROM signalbox.${toEventTable(name)})`,
  }),
});

const passOld = (table: string): Statement => ({
  text: `INSERT INTO signalbox.projection (name, seq, gone)
    SELECT $1, passed.seq, passed.seq FROM (
      SELECT coalesce((SELECT min(seq) - 1 FROM signalbox.${table} WHERE at >= $2), max(seq), 0) AS seq
      FROM signalbox.${table}
    ) AS passed
    ON CONFLICT (name) DO UPDATE SET seq = excluded.seq, gone = excluded.gone`,
  values: [table, Date.now() - dayMs],
});
