import { rememberedMs } from '../../recent-keys.ts';
import { KeyRefusal } from '../../store-errors.ts';
import type { Row, Statement } from '../connecting/connection.ts';
import type { Collection, Decision, Gate } from '../writing/gated-collection.ts';
import { insertRecords, rememberKeys } from './record-rows.ts';

/** By which a record that comes again is recognized: the last one with its hash had the same state. */
export interface RepeatKey {
  hash: string;
  state: string;
  /** A record with another state is refused with a KeyRefusal. */
  isOnce: boolean;
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
  key?: RepeatKey | undefined;
}

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

interface Known {
  state: string;
  id: string;
}

/** Records in the table of the name, which is also that of the gate; they show which instance has added them. */
export const createRecordCollection = (
  name: 'alert' | 'audit',
  instance: string,
  clock: () => Date,
): Collection<RecordChange, Placed[]> => ({
  name,
  read: (changes) => {
    const ids = changes.flatMap(({ records, isAcknowledged }) => (isAcknowledged ? records.map(({ id }) => id) : []));
    const hashes = changes.flatMap(({ records }) => records.flatMap(({ key }) => key?.hash ?? []));
    if (ids.length === 0 && hashes.length === 0) return [];
    return [
      { text: `SELECT id, seq FROM signalbox.${name} WHERE id = ANY($1::uuid[])`, values: [ids] },
      {
        text: 'SELECT hash, state, id FROM signalbox.repeat WHERE hash = ANY($1) AND at > $2',
        values: [hashes, clock().getTime() - rememberedMs],
      },
    ];
  },
  decide: (changes, [rows = [], keys = []], gate) => {
    const batch = new RecordBatch(rows, keys, gate);
    gate.at = Math.max(gate.at, clock().getTime());
    const decisions = changes.map((change) => batch.decide(change));
    return { decisions, statements: batch.toStatements(name, instance, clock().getTime()) };
  },
});

class RecordBatch {
  readonly #gate: Gate;
  /** Seqs of records that are in the table, by id. */
  readonly #seqs: Map<string, number>;
  readonly #keys: Map<string, Known>;
  readonly #added: (NewRecord & { seq: number })[] = [];
  readonly #addedKeys = new Map<string, Known>();

  constructor(rows: readonly Row[], keys: readonly Row[], gate: Gate) {
    this.#gate = gate;
    this.#seqs = new Map(rows.map(({ id, seq }) => [id, seq]));
    this.#keys = new Map(keys.map(({ hash, state, id }) => [hash, { state, id }]));
  }

  decide({ records, isAcknowledged }: RecordChange): Decision<Placed[]> {
    const isRefused = ({ key }: NewRecord): boolean =>
      key?.isOnce === true && (this.#keys.get(key.hash)?.state ?? key.state) !== key.state;
    if (!isAcknowledged && records.some(isRefused)) return { refusal: new KeyRefusal(false) };
    return { result: records.map((record) => this.#place(record)) };
  }

  #place(record: NewRecord): Placed {
    const { id, key } = record;
    const stored = this.#seqs.get(id);
    if (stored !== undefined) return { id, seq: stored, isRepeat: false };
    const known = key && this.#keys.get(key.hash);
    if (known && known.state === key.state) return { id: known.id, seq: undefined, isRepeat: true };
    this.#gate.lastId += 1;
    const seq = this.#gate.lastId;
    this.#seqs.set(id, seq);
    this.#added.push({ ...record, seq });
    if (key) {
      this.#keys.set(key.hash, { state: key.state, id });
      this.#addedKeys.set(key.hash, { state: key.state, id });
    }
    return { id, seq, isRepeat: false };
  }

  toStatements(name: string, instance: string, now: number): Statement[] {
    const rows = this.#added;
    if (rows.length === 0) return [];
    const keys = Array.from(this.#addedKeys, ([hash, known]) => ({ hash, ...known, at: now }));
    const insert = insertRecords(name, instance, rows);
    insert.text += ' ON CONFLICT (id) DO NOTHING';
    return keys.length === 0 ? [insert] : [insert, rememberKeys(keys)];
  }
}
