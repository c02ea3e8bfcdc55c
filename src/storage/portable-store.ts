import type { EntriesState } from './changes.ts';
import type { LogRecord } from './journal/line.ts';
import type { Awaitable } from './list.ts';
import type { Gate } from './postgres/batch.ts';
import type { Row, Statement } from './postgres/connection.ts';

/** Store that `signalbox export` reads and `signalbox import` fills, as changes. A log's change is a PortableRecord. */
export interface PortableStore<Change = unknown> {
  /** Base name of the store's files. */
  name: string;
  /** Creates an empty state for changes; undefined for a log of records. */
  createState?(): EntriesState<Change, unknown>;
  /** Creates the filter of a log whose records may depend on earlier ones; `saved` is the log's snapshot. */
  createFilter?(saved: SavedChanges | undefined): RecordFilter<Change>;
  /** Returns a change's line; `before` counts the store's earlier lines. Undefined for a change without a line. */
  table: PortableTable<Change>;
  /**
   * Returns a change's line; `before` is the number of the store's earlier lines. Undefined for a change without a
   * line.
   */
  toLine(change: Change, before: number): readonly [key: string, value: unknown] | undefined;
}

/** Record of a log, with its id. */
export interface PortableRecord {
  /** A UUID. */
  id: string;
  record: LogRecord;
}

/** Changes that rebuild a log's snapshot. */
interface SavedChanges {
  seq: number;
  changes: readonly unknown[];
}

/** Filter of a log's records. */
export interface RecordFilter<Change> {
  /** Changes before the first record, in place of records deleted from the log. */
  before: readonly Change[];
  /** Receives all records in order; returns undefined for a record without effect. */
  filter(change: Change, seq: number): Change | undefined;
}

/** Filter that lets every record pass. */
export const passAll: RecordFilter<unknown> = { before: [], filter: (change) => change };

/** A store's tables in a database. */
export interface PortableTable<Change = unknown> {
  /** Name of the store's gate. */
  name: string;
  /** Queries whose rows become changes, in line order; rows include a `seq` if the store has a filter. */
  queries: { text: string; toChange(row: Row): Change }[];
  /** Returns statements that store changes, which arrive in line order, and updates the gate. */
  insert(changes: readonly Change[], gate: Gate): Statement[];
  /** Returns the statements to run after the last change. */
  finish?(): Statement[];
  /** SQL condition under which the store counts as empty even though ids were assigned. */
  isUnused?: string;
}

/** Stores to fill by an import. Closed before `commit`, they are empty again. */
export interface ImportTarget {
  /** Name of a store that contains data, or once did. */
  occupied: string | undefined;
  /** Number of changes to add at once, unless they are long. */
  pieceCount: number;
  add(store: PortableStore, changes: readonly unknown[]): Promise<void>;
  /** Resolves when all changes are stored. */
  save(): Promise<void>;
  /** Makes the import permanent; resolves to false if the outcome is uncertain. */
  commit(): Promise<boolean>;
  close(): Awaitable<void>;
}

/** A Set holds at most 2^24 values, so each last byte of an id has its own. */
const idSetCount = 256;

/** Detects duplicates among many millions of UUIDs; each takes about 60 bytes. */
export class SeenIds {
  readonly #sets = Array.from({ length: idSetCount }, () => new Set<string>());

  /** Adds a lower-case id; returns false if it was added before. */
  add(id: string): boolean {
    const bytes = Buffer.from(id.replaceAll('-', ''), 'hex');
    const set = this.#sets[bytes.at(-1) ?? 0] as Set<string>;
    const text = bytes.toString('latin1');
    if (set.has(text)) return false;
    set.add(text);
    return true;
  }
}
