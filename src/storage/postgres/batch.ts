import type { Connection, Row, Statement, StatementOutcome } from './connection.ts';
import { isRollback } from './database-errors.ts';

/** Row of a collection that every change of the collection locks. */
export interface Gate {
  /** Last id that was given out. */
  lastId: number;
  /** Time of the last change in milliseconds since 1970; never goes back, whichever instance writes. */
  at: number;
  /** Numbers of entries, counted by the collection. */
  counts: number[];
}

/** Result of a change, or the error that refuses it. */
export type Decision<Result> = { result: Result } | { refusal: Error };

/**
 * One kind of entries in the database. The waiting changes of an instance are decided together, between two messages to the
 * server, while the gate is locked.
 */
export interface Collection<Change, Result> {
  /** Name of the gate. */
  name: string;
  /** Returns queries whose rows `decide` needs. */
  read(changes: readonly Change[]): Statement[];
  /**
   * Decides the changes in their order, from the rows of `read`, and updates the gate; returns a decision for each change, and
   * the
   * statements that store the changes.
   */
  decide(
    changes: readonly Change[],
    rows: readonly Row[][],
    gate: Gate,
  ): { decisions: Decision<Result>[]; statements: Statement[] };
}

/** Waiting change, with its collection. */
export interface CollectionChange {
  // biome-ignore lint/suspicious/noExplicitAny: changes and results go back to where they came from.
  collection: Collection<any, any>;
  change: unknown;
}

/** Mark of a batch in its instance's row of the table of writers. */
interface Fence {
  instance: string;
  /** Raised with each connection, so that statements of an older connection are refused. */
  epoch: number;
  /** Number of the batch, by which a later connection learns whether it was committed. */
  batch: number;
}

type Decisions = ReadonlyMap<CollectionChange, Decision<unknown>>;

/** Result of a batch; `unknown` if the commit may have happened. */
type BatchResult = { outcome: 'committed' | 'unknown'; decisions: Decisions } | { outcome: 'failed'; error: unknown };

/** Limits the wait for a lock of another session, and the wait of other sessions for a lock of this one. */
const begin: Statement = {
  text: `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = 2500;
    SET LOCAL idle_in_transaction_session_timeout = 3000`,
};

/** Fails for a writer with an older epoch, because the column takes no NULL. */
const raiseFence = ({ instance, epoch, batch }: Fence): Statement => ({
  text: `UPDATE signalbox.writer SET batch = $3, seen_at = now(),
    epoch = CASE WHEN epoch = $2 THEN epoch END WHERE instance = $1`,
  values: [instance, epoch, batch],
  isPrepared: true,
});

export const lockGate = (name: string): Statement => ({
  text: `SELECT last_id, counts, extract(epoch FROM at)::float8 * 1000 AS at FROM signalbox.gate
    WHERE name = $1 FOR UPDATE`,
  values: [name],
  isPrepared: true,
});

export const storeGate = (name: string, { lastId, at, counts }: Gate): Statement => ({
  text: 'UPDATE signalbox.gate SET last_id = $2, at = to_timestamp($3), counts = $4 WHERE name = $1',
  values: [name, lastId, at / 1000, counts],
  isPrepared: true,
});

/**
 * Executes operations in one transaction, as two messages to the server. Between the messages, `claim` returns the operations
 * that
 * have not expired; only these are decided and stored.
 */
export const execute = async (
  connection: Connection,
  fence: Fence,
  operations: readonly CollectionChange[],
  claim: () => readonly CollectionChange[],
): Promise<BatchResult> => {
  const parts = toParts(operations);
  const outcomes = await connection.run([begin, raiseFence(fence), ...parts.flatMap(({ reads }) => reads)]);
  const failure = findFailure(outcomes);
  if (failure) {
    await connection.run([{ text: 'ROLLBACK' }]);
    return { outcome: 'failed', error: failure };
  }
  const [, fenced, ...read] = outcomes.map((outcome) => outcome as Exclude<StatementOutcome, { error: Error }>);
  if (fenced?.rowCount !== 1) return { outcome: 'failed', error: new Error('this instance is not registered') };
  const claimed = new Set(claim());
  const decisions = new Map<CollectionChange, Decision<unknown>>();
  const statements = parts.flatMap(({ collection, operations: all, reads }) => {
    const [[gateRow], ...rows] = read.splice(0, reads.length).map((each) => each.rows) as [[Row], ...Row[][]];
    const gate: Gate = { lastId: gateRow.last_id, at: gateRow.at, counts: gateRow.counts };
    const taken = all.filter((operation) => claimed.has(operation));
    const decided = collection.decide(toChanges(taken), rows, gate);
    for (const [index, operation] of taken.entries()) {
      decisions.set(operation, decided.decisions[index] as Decision<unknown>);
    }
    return decided.statements.length > 0 ? [storeGate(collection.name, gate), ...decided.statements] : [];
  });
  const { warnings } = connection;
  const written = await connection.run([...statements, { text: 'COMMIT' }]);
  return judge(written, connection.warnings > warnings, decisions);
};

/** Returns `committed` if the server confirms the commit without a warning, `failed` if it refuses it, else `unknown`. */
const judge = (written: readonly StatementOutcome[], hasWarned: boolean, decisions: Decisions): BatchResult => {
  const commit = written.at(-1);
  if (!commit || 'error' in commit) {
    return isRollback(commit?.error) ? { outcome: 'failed', error: commit?.error } : { outcome: 'unknown', decisions };
  }
  if (commit.command === 'COMMIT') return { outcome: hasWarned ? 'unknown' : 'committed', decisions };
  return { outcome: 'failed', error: findFailure(written) ?? new Error('the server has rolled back') };
};

const findFailure = (outcomes: readonly StatementOutcome[]): Error | undefined =>
  outcomes.find((outcome) => 'error' in outcome)?.error;

/** Groups operations by collection, in the order of names, so that no two instances wait for each other. */
const toParts = (operations: readonly CollectionChange[]) => {
  const names = [...new Set(operations.map(({ collection }) => collection.name))].sort();
  return names.map((name) => {
    const own = operations.filter(({ collection }) => collection.name === name);
    const { collection } = own[0] as CollectionChange;
    return { collection, operations: own, reads: [lockGate(name), ...collection.read(toChanges(own))] };
  });
};

const toChanges = (operations: readonly CollectionChange[]): unknown[] => operations.map(({ change }) => change);

/** Returns members of entries as columns for `unnest`. */
export const toColumns = <Entry, Name extends keyof Entry>(
  entries: readonly Entry[],
  ...names: Name[]
): Entry[Name][][] => names.map((name) => entries.map((entry) => entry[name]));
