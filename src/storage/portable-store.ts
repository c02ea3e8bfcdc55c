import type { EntriesState } from './changes.ts';
import type { LogRecord } from './journal/line.ts';
import type { Awaitable } from './list.ts';
import type { Places } from './places.ts';
import type { Gate } from './postgres/batch.ts';
import type { Row, Statement } from './postgres/connection.ts';
import type { FollowedTables } from './postgres/followed-rows.ts';
import type { ProjectionState } from './projection-state.ts';
import type { ProjectionSnapshot } from './snapshot.ts';

/** Store that `signalbox export` reads and `signalbox import` fills, as changes. A log's change is a PortableRecord. */
export interface PortableStore<Change = unknown> {
  /** Base name of the store's files. */
  name: string;
  /** Creates an empty state for changes; undefined for a log of records. */
  createState?(): EntriesState<Change, unknown>;
  /** True for a folder of small files, whose changes are PortableFiles. */
  isFolder?: true;
  /** True for a log whose records an import joins: the log does not make a store occupied. */
  isJoined?: true;
  /** Creates the filter of a log whose records may depend on earlier ones; `saved` is the log's snapshot. */
  createFilter?(saved: SavedChanges | undefined): RecordFilter<Change>;
  /** Projection that is exported, as the entries of its snapshot, instead of the records of its log. */
  projection?: PortableProjection;
  table: PortableTable<Change>;
  /**
   * Returns a change's line; undefined for a change without a line. `before` is the number of the store's earlier
   * lines, and `places` has the exported records of the log that the store's projection follows.
   */
  toLine(change: Change, before: number, places: Places): readonly [key: string, value: unknown] | undefined;
}

/** Record of a log, with its id. */
export interface PortableRecord {
  /** A UUID. */
  id: string;
  record: LogRecord;
  /** Seq in the exported log; an import assigns a new one. */
  seq?: number;
}

/** File in a folder. */
export interface PortableFile {
  name: string;
  /** Time of writing, in Unix milliseconds. */
  at: number;
  text: string;
}

/** Projection of an exported log. */
export interface PortableProjection {
  /**
   * Name of the store with the log. The projection's entries are then imported as its snapshot. By default, the
   * projection's own log is followed, to which an import appends records.
   */
  follows?: string;
  /** Names of the state file and the table of version 1.1.0 that only a start of this version makes readable. */
  former: { file?: string; table: string };
  createState(): ProjectionState;
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
  /** Name of the table, and of the store's gate unless `gate` names another gate. */
  name: string;
  gate?: string;
  /** Queries whose rows become changes, in line order; rows include a `seq` if the store has a filter. */
  queries: { text: string; toChange(row: Row): Change }[];
  /** Tables of the projection's log, and its snapshot. */
  projection?: { tables: FollowedTables; openSnapshot(query: Query): Pick<ProjectionSnapshot, 'read'> };
  /**
   * Returns statements that store changes, which arrive in line order, and updates the gate. `lastSeq` is the last seq
   * of the followed log before the import.
   */
  insert(changes: readonly Change[], gate: Gate, lastSeq: number): Statement[];
  /** Returns the statements to run after the last change, if there were any. */
  finish?(): Statement[];
  /** SQL condition under which the store counts as empty even though ids were assigned. */
  isUnused?: string;
}

/** Runs a statement in the transaction of an export. */
export type Query = (statement: Statement) => Promise<Row[]>;

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
