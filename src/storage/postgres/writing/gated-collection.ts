import type { Row, Statement } from '../connecting/connection.ts';

/** The row of a collection that every change to it locks. */
export interface Gate {
  /** The last id that was given. */
  lastId: number;
  /** Milliseconds since 1970 of the last change: times do not go back, whichever instance writes. */
  at: number;
  /** Numbers of entries, as the collection counts them. */
  counts: number[];
}

/** What became of a change: its result, or the error that refuses it. */
export type Decision<Result> = { result: Result } | { refusal: Error };

/**
 * One kind of entries in the database. Changes of one instance that wait are decided together, between two messages to
 * the server, while the gate is locked.
 */
export interface Collection<Change, Result> {
  /** The name of its gate. */
  name: string;
  /** Reads what the decisions need. */
  read(changes: readonly Change[]): Statement[];
  /**
   * Decides the changes in their order, by the rows that were read, and updates the gate; returns a decision for each, and
   * the statements that store them.
   */
  decide(
    changes: readonly Change[],
    rows: readonly Row[][],
    gate: Gate,
  ): { decisions: Decision<Result>[]; statements: Statement[] };
}
