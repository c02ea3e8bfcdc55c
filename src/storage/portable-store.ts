import type { EntriesState } from './changes.ts';
import type { LogRecord } from './journal/line.ts';
import type { Awaitable } from './list.ts';
import type { Gate } from './postgres/batch.ts';
import type { Row, Statement } from './postgres/connection.ts';

/** A store that `signalbox export` reads and `signalbox import` fills, as changes. A change of a log is a PortableRecord. */
export interface PortableStore<Change = unknown> {
  /** Name of the store's files. */
  name: string;
  /** Creates an empty state for changes; undefined for a log of records. */
  createState?(): EntriesState<Change, unknown>;
  /** Creates the filter of a log in which a record may depend on earlier ones; `saved` is the log's snapshot. */
  createFilter?(saved: SavedChanges | undefined): RecordFilter<Change>;
  /** Tables of the store in a database. */
  table: PortableTable<Change>;
  /** Returns the line of a change; `before` counts the store's earlier lines. Undefined for a change that has no line. */
  toLine(change: Change, before: number): readonly [key: string, value: unknown] | undefined;
}

/** A record of a log, with its id. */
export interface PortableRecord {
  /** A UUID. */
  id: string;
  record: LogRecord;
}

/** Changes that lead to the snapshot of a log. */
interface SavedChanges {
  seq: number;
  changes: readonly unknown[];
}

/** Filter of a log's records. */
export interface RecordFilter<Change> {
  /** Changes before the first record, in place of records that the log has deleted. */
  before: readonly Change[];
  /** Receives all records in their order; returns undefined for a record without effect. */
  filter(change: Change, seq: number): Change | undefined;
}

/** Filter that every record passes. */
export const passAll: RecordFilter<unknown> = { before: [], filter: (change) => change };

/** Tables of a store in a database. */
export interface PortableTable<Change = unknown> {
  /** Name of the store's gate. */
  name: string;
  /** Queries whose rows become changes, in the order of lines; rows have a `seq` where the store has a filter. */
  queries: { text: string; toChange(row: Row): Change }[];
  /** Returns statements that store changes, which arrive in the order of lines, and updates the gate. */
  insert(changes: readonly Change[], gate: Gate): Statement[];
  /** Returns statements to run after the last change. */
  finish?(): Statement[];
  /** SQL condition under which the store counts as empty although ids were given out. */
  isUnused?: string;
}

/** Stores that an import fills. If they are closed before `commit`, they are empty again. */
export interface ImportTarget {
  /** Name of a store that has or had data. */
  occupied: string | undefined;
  /** Number of changes to add together, unless they are long. */
  pieceCount: number;
  add(store: PortableStore, changes: readonly unknown[]): Promise<void>;
  /** Resolves when all changes are stored. */
  save(): Promise<void>;
  /** Makes the import permanent; resolves to false if that is uncertain. */
  commit(): Promise<boolean>;
  close(): Awaitable<void>;
}

/** A Set holds up to 2^24 values, so there is a set for each last byte. */
const idSetCount = 256;

/** Detects repeated UUIDs among many millions; each takes about 60 bytes. */
export class SeenIds {
  readonly #sets = Array.from({ length: idSetCount }, () => new Set<string>());

  /** Adds an id in lower case; returns false if it was added before. */
  add(id: string): boolean {
    const bytes = Buffer.from(id.replaceAll('-', ''), 'hex');
    const set = this.#sets[bytes.at(-1) ?? 0] as Set<string>;
    const text = bytes.toString('latin1');
    if (set.has(text)) return false;
    set.add(text);
    return true;
  }
}
