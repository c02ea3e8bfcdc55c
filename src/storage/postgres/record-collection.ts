import { KeyRefusal } from '../../lib/expected-errors.ts';
import { dayMs } from '../../lib/units.ts';
import type { LogRecord } from '../journal/line.ts';
import type { PortableRecord, PortableTable } from '../portable-store.ts';
import { rememberedMs } from '../recent-keys.ts';
import { type Collection, type Decision, type Gate, toColumns } from './batch.ts';
import type { Row, Statement } from './connection.ts';
import { toLevel } from './record-search.ts';

/** By which a record that comes again is recognized: the last one with its hash had the same state. */
export interface RepeatRowKey {
  hash: string;
  state: string;
  /** A record with another state is refused with a KeyRefusal. */
  isOnce: boolean;
  /**
   * A record that comes again so many milliseconds after the first one, or after the last reminder, is added with the
   * member `repeatOf`, the first one's id; it is a repeat nevertheless.
   */
  remindAfterMs?: number | undefined;
}

/** A record to add. */
export interface NewRecord {
  /** A UUID. */
  id: string;
  /** Milliseconds since 1970. */
  at: number;
  /** What records are counted by; null for a text that the column does not take. */
  level: string | null;
  /** JSON without U+0000. */
  body: string;
  key?: RepeatRowKey | undefined;
  /** An event of a feature: in a table beside the other one, with a seq of the same order. */
  isEvent?: boolean;
}

/** The table of the events of features beside records. */
export const toEventTable = (table: string): string => `${table}_event`;

/** A record in its table. */
type StoredRow = Omit<NewRecord, 'key'> & { seq: number };

/** Records that are added together. */
export interface RecordChange {
  records: readonly NewRecord[];
  /** They have been acknowledged: some may be in the table already, and none is refused. */
  isAcknowledged: boolean;
}

/** Where a record is: its own id, or that of the one it repeats, which has no seq here. */
export interface Placed {
  id: string;
  seq: number | undefined;
  isRepeat: boolean;
}

/** By what a record is recognized when it comes again. */
interface RememberedKey {
  hash: string;
  state: string;
  /** Of the record. */
  id: string;
  /** Milliseconds since 1970. */
  at: number;
}

/** The hash under which the last reminder of a series is remembered. */
const toReminderHash = (hash: string): string => `${hash} reminder`;

/** Records in the table of the name, which is also that of the gate; they show which instance has added them. */
export const createRecordCollection = (
  name: 'alert' | 'audit' | 'setting' | 'heartbeat',
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

const listHashes = (key: RepeatRowKey | undefined): string[] =>
  key ? [key.hash, ...(key.remindAfterMs === undefined ? [] : [toReminderHash(key.hash)])] : [];

class RecordBatch {
  readonly #gate: Gate;
  /** Seqs of records that are in the table, by id. */
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
    if (!isAcknowledged && records.some(isRefused)) return { refusal: new KeyRefusal() };
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

  #isDue({ hash, remindAfterMs = Number.POSITIVE_INFINITY }: RepeatRowKey, first: RememberedKey): boolean {
    const last = this.#keys.get(toReminderHash(hash)) ?? first;
    return this.#now - Math.max(last.at, first.at) >= remindAfterMs;
  }

  /** Adds the record and remembers it under the hash, if there is one; returns its seq. */
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

/** Adds records to their table; an id that is there already is an error. */
const insertRecords = (table: string, instance: string, rows: readonly StoredRow[]): Statement => ({
  text: `INSERT INTO signalbox.${table} (seq, id, at, level, body, instance)
    SELECT u.*, $6::text FROM unnest($1::bigint[], $2::uuid[], $3::bigint[], $4::text[], $5::text[]) AS u`,
  values: [...toColumns(rows, 'seq', 'id', 'at', 'level', 'body'), instance],
});

/** Remembers keys with different hashes; earlier ones with these are replaced. */
const rememberKeys = (keys: readonly RememberedKey[]): Statement => ({
  text: `INSERT INTO signalbox.repeat (hash, state, id, at)
    SELECT * FROM unnest($1::text[], $2::text[], $3::uuid[], $4::bigint[])
    ON CONFLICT (hash) DO UPDATE SET state = excluded.state, id = excluded.id, at = excluded.at`,
  values: toColumns(keys, 'hash', 'state', 'id', 'at'),
});

type Key = Pick<RememberedKey, 'hash' | 'state'>;

/** What the table's columns have of a record. */
interface Columns {
  /** Milliseconds since 1970; undefined where the record does not say. */
  timeOf(record: LogRecord): number | undefined;
  levelOf?(record: LogRecord): unknown;
  /** There are events of features in a table beside it, and their projection does not fold imported records that are older than a day. */
  hasEvents?: boolean;
  /** How a record has its key, which a record of the table may lack while it is remembered. */
  keys?: {
    read(record: LogRecord): Key | undefined;
    add(record: LogRecord, key: Key): LogRecord;
  };
}

/** No instance has received what was imported, so none delivers it. */
const noInstance = '';

/** The table of a log, as export and import see it. Records keep their ids and get seqs from 1. */
export const createRecordTable = (
  name: 'alert' | 'audit' | 'setting',
  { timeOf, levelOf = () => null, keys, hasEvents = false }: Columns,
): PortableTable<PortableRecord> => ({
  name,
  queries: [
    {
      text: keys
        ? `SELECT seq, log.id, body, hash, state FROM signalbox.${name} AS log
            LEFT JOIN signalbox.repeat ON repeat.id = log.id ORDER BY seq`
        : `SELECT seq, id, body FROM signalbox.${name} ORDER BY seq`,
      toChange: ({ id, body, hash, state }) => {
        const record: LogRecord = JSON.parse(body);
        const lacksKey = keys && typeof hash === 'string' && keys.read(record) === undefined;
        return { id, record: lacksKey ? keys.add(record, { hash, state }) : record };
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
    // All that was stored are events that are still there.
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
