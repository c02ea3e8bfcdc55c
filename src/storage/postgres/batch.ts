import type { Connection, Row, Statement, StatementOutcome } from './connection.ts';
import { isRollback } from './database-errors.ts';

/** Row for a collection. Every change to the collection locks this row. */
export interface Gate {
  /** Last assigned id. */
  lastId: number;
  /** Time of the last change in milliseconds since 1970. Never decreases, even if several instances write. */
  at: number;
  /** Counts of entries, maintained by the collection. */
  counts: number[];
}

/** Result of a change, or the error with which the change is refused. */
export type Decision<Result> = { result: Result } | { refusal: Error };

/**
 * One kind of entry in the database. An instance decides all of its waiting changes together while the gate is locked,
 * between two messages to the server.
 */
export interface Collection<Change, Result> {
  /** Name of the gate. */
  name: string;
  /** Returns the queries for the rows that `decide` needs. */
  read(changes: readonly Change[]): Statement[];
  /**
   * Decides on the changes in order, based on the rows of `read`, and updates the gate. Returns a decision for each
   * change, and the statements that store the changes.
   */
  decide(
    changes: readonly Change[],
    rows: readonly Row[][],
    gate: Gate,
  ): { decisions: Decision<Result>[]; statements: Statement[] };
}

/** Waiting change with its collection. */
export interface CollectionChange {
  // biome-ignore lint/suspicious/noExplicitAny: changes and results go back to where they came from.
  collection: Collection<any, any>;
  change: unknown;
}

/** Position of a batch. It identifies the batch in its instance's row in the table of writers. */
interface Fence {
  instance: string;
  /** Number that increases with each connection, so that statements from older connections are refused. */
  epoch: number;
  /** Number of the batch. Tells a later connection whether the batch was committed. */
  batch: number;
}

type Decisions = ReadonlyMap<CollectionChange, Decision<unknown>>;

/** Result of a batch. `unknown` if it may have been committed. */
type BatchResult = { outcome: 'committed' | 'unknown'; decisions: Decisions } | { outcome: 'failed'; error: unknown };

/**
 * Statement that limits how long this session waits for other sessions' locks, and how long they wait for its locks.
 */
const begin: Statement = {
  text: `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = 2500;
    SET LOCAL idle_in_transaction_session_timeout = 3000`,
};

/** Creates a statement that fails for a writer with an older epoch, because the column does not accept NULL. */
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
 * Executes operations in one transaction, as two messages to the server. Between the messages, `claim` returns the
 * operations that have not expired. Only these are decided and stored.
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

/**
 * Returns `committed` if the server confirms the commit without a warning, `failed` if the server refuses it, and
 * `unknown` otherwise.
 */
const judge = (written: readonly StatementOutcome[], hasWarned: boolean, decisions: Decisions): BatchResult => {
  const commit = written.at(-1);
  if (!commit || 'error' in commit) {
    return isRollback(commit?.error) ? { outcome: 'failed', error: commit?.error } : { outcome: 'unknown', decisions };
  }
  if (commit.command === 'COMMIT') return { outcome: hasWarned ? 'unknown' : 'committed', decisions };
  return { outcome: 'failed', error: findFailure(written) ?? new Error('the server rolled the transaction back') };
};

const findFailure = (outcomes: readonly StatementOutcome[]): Error | undefined =>
  outcomes.find((outcome) => 'error' in outcome)?.error;

/** Groups operations by collection. The groups are sorted by name, so that instances never deadlock. */
const toParts = (operations: readonly CollectionChange[]) => {
  const names = [...new Set(operations.map(({ collection }) => collection.name))].sort();
  return names.map((name) => {
    const own = operations.filter(({ collection }) => collection.name === name);
    const { collection } = own[0] as CollectionChange;
    return { collection, operations: own, reads: [lockGate(name), ...collection.read(toChanges(own))] };
  });
};

const toChanges = (operations: readonly CollectionChange[]): unknown[] => operations.map(({ change }) => change);

/** Converts members of entries to columns for `unnest`. */
export const toColumns = <Entry, Name extends keyof Entry>(
  entries: readonly Entry[],
  ...names: Name[]
): Entry[Name][][] => names.map((name) => entries.map((entry) => entry[name]));
