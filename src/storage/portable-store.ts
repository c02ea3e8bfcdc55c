import type { EntriesState } from './changes.ts';
import type { LogRecord } from './journal/line.ts';
import type { Awaitable } from './list.ts';
import type { Places } from './places.ts';
import type { Gate } from './postgres/batch.ts';
import type { Row, Statement } from './postgres/connection.ts';
import type { FollowedTables } from './postgres/followed-rows.ts';
import type { ProjectionState } from './projection-state.ts';
import type { ProjectionSnapshot } from './snapshot.ts';

/**
 * Store in the form that `signalbox export` reads and `signalbox import` fills: as changes. The changes of a log are
 * PortableRecords.
 */
export interface PortableStore<Change = unknown> {
  /** Base name of the store's files. */
  name: string;
  /** Creates an empty state for changes. Undefined for a log of records. */
  createState?(): EntriesState<Change, unknown>;
  /** Opens the folder `name` at a path. Undefined for a store without a folder of its own. */
  openFolder?(path: string): PortableFolder<Change>;
  /**
   * True for a log to which an import adds records. Existing records in such a log do not make the store count as
   * occupied.
   */
  isJoined?: true;
  /** Creates the filter of a log whose records may depend on earlier records. `saved` is the snapshot of the log. */
  createFilter?(saved: SnapshotChanges | undefined): RecordFilter<Change>;
  /** Projection to export instead of the records of its log. Its entries are those of its snapshot. */
  projection?: PortableProjection;
  table: PortableTable<Change>;
  /**
   * Returns the line for a change. Undefined for a change without a line. `before` is the number of earlier lines of
   * the store. `places` has the exported records of the log that the store's projection follows.
   */
  toLine(change: Change, before: number, places: Places): readonly [key: string, value: unknown] | undefined;
}

/** Record of a log, with its id. */
export interface PortableRecord {
  /** Id of the record, a UUID. */
  id: string;
  record: LogRecord;
  /** Seq in the exported log. An import assigns a new seq. */
  seq?: number;
}

/** File in a folder. */
export interface PortableFile {
  name: string;
  /** Time at which the file was written, in Unix milliseconds. */
  at: number;
  text: string;
}

/** Part of a file that an export has read. */
interface PortablePart<Change> {
  file: string;
  /** Undefined if the part is unreadable. */
  changes: readonly Change[] | undefined;
  bytes: number;
}

/** Folder with the files of a store. */
export interface PortableFolder<Change = unknown> {
  isEmpty(): Promise<boolean>;
  /** Resolves to the total number of bytes that `read` reads. */
  readSize(): Promise<number>;
  /** Reads changes in line order. */
  read(): AsyncIterable<PortablePart<Change>>;
  add(changes: readonly Change[]): Promise<void>;
  /** Resolves when all changes would survive a power cut. */
  save(): Promise<void>;
  close(): Promise<void>;
}

/** Projection of an exported log. */
export interface PortableProjection {
  /**
   * Name of the store whose log the projection follows. The entries of the projection are then imported as its
   * snapshot. By default, the projection follows its own log, and an import appends records to that log.
   */
  follows?: string;
  /**
   * Names of the state file and of the table in version 1.1.0. This version converts them on startup and cannot read
   * them before that.
   */
  former: { file?: string; table: string };
  createState(): ProjectionState;
}

/** Changes that rebuild the snapshot of a log. */
interface SnapshotChanges {
  seq: number;
  changes: readonly unknown[];
}

/** Filter for the records of a log. */
export interface RecordFilter<Change> {
  /** Changes before the first record. They replace records that were deleted from the log. */
  before: readonly Change[];
  /** Receives all records in order. Returns undefined for a record without effect. */
  filter(change: Change, seq: number): Change | undefined;
}

/** Filter that lets every record pass. */
export const passAll: RecordFilter<unknown> = { before: [], filter: (change) => change };

/** Tables of a store in a database. */
export interface PortableTable<Change = unknown> {
  /** Name of the table. Also the name of the store's gate, unless `gate` names another. */
  name: string;
  gate?: string;
  /** Queries whose rows become changes, in line order. If the store has a filter, rows include a `seq`. */
  queries: { text: string; toChange(row: Row): Change }[];
  /**
   * Tables of the log that the projection follows, and the snapshot of the projection. By default, the snapshot has the
   * name of the first table.
   */
  projection?: { tables: FollowedTables; openSnapshot?(query: Query): Pick<ProjectionSnapshot, 'read'> };
  /**
   * Returns statements that store changes, and updates the gate. Changes arrive in line order. `lastSeq` is the last
   * seq of the followed log before the import.
   */
  insert(changes: readonly Change[], gate: Gate, lastSeq: number): Statement[];
  /** Returns the statements to run after the last change, if there was one. */
  finish?(): Statement[];
  /** SQL condition that is true if the store counts as empty although ids were assigned. */
  isUnused?: string;
}

/** Runs a statement in the transaction of an export. */
export type Query = (statement: Statement) => Promise<Row[]>;

/** Stores that an import fills. If they are closed before `commit`, they are empty again. */
export interface ImportedStores {
  /** Name of a store that contains data or once contained data. */
  occupied: string | undefined;
  /** Number of changes to add together, unless they are long. */
  pieceCount: number;
  add(store: PortableStore, changes: readonly unknown[]): Promise<void>;
  /** Resolves when all changes are stored. */
  save(): Promise<void>;
  /** Makes the import permanent. Resolves to false if the outcome is uncertain. */
  commit(): Promise<boolean>;
  close(): Awaitable<void>;
}

/** Number of sets of ids, one for each last byte of an id. A single Set holds at most 2^24 values. */
const idSetCount = 256;

/** Detects duplicates among many millions of UUIDs. Each UUID takes about 60 bytes. */
export class SeenIds {
  readonly #sets = Array.from({ length: idSetCount }, () => new Set<string>());

  /** Adds a lower-case id. Returns false if it was added before. */
  add(id: string): boolean {
    const bytes = Buffer.from(id.replaceAll('-', ''), 'hex');
    const set = this.#sets[bytes.at(-1) ?? 0] as Set<string>;
    const text = bytes.toString('latin1');
    if (set.has(text)) return false;
    set.add(text);
    return true;
  }
}
