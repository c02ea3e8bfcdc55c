import type { State } from './changes/changes.ts';
import type { Awaitable } from './list.ts';
import type { Gate } from './postgres/batch.ts';
import type { Row, Statement } from './postgres/connection.ts';

/** A store of which `signalbox export` reads all changes, and into which `import` writes them. A log has a MovedRecord for each. */
export interface MovedStore<Change = unknown> {
  /** The name under which files keep it. */
  name: string;
  /** A new state, to which changes can be applied; a log of records has none. */
  createState?(): State<Change, unknown>;
  /** How a database keeps it. */
  table: MovedTable<Change>;
  /** The line of a change after so many lines of the store; undefined for a change that says nothing. */
  toLine(change: Change, before: number): readonly [key: string, value: unknown] | undefined;
}

/** How a database keeps a store. */
export interface MovedTable<Change = unknown> {
  /** The name of its gate. */
  name: string;
  /** Queries whose rows are changes, in the order of lines. */
  queries: { text: string; toChange(row: Row): Change }[];
  /** Stores changes, which come in the order of lines, and updates the gate. */
  insert(changes: readonly Change[], gate: Gate): Statement[];
}

/** Stores that an import fills. Closed before everything is saved, they are as empty as before. */
export interface ImportTarget {
  /** The name of a store that has or had something already. */
  occupied: string | undefined;
  /** How many changes are best added together, unless they are long. */
  pieceCount: number;
  add(store: MovedStore, changes: readonly unknown[]): Promise<void>;
  /** Resolves when everything is stored. */
  save(): Promise<void>;
  /** Makes it last; resolves to whether that is certain. */
  commit(): Promise<boolean>;
  close(): Awaitable<void>;
}
