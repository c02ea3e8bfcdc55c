import type { Connection, Outcome, Row, Statement } from '../connecting/connection.ts';
import { isRollback } from '../connecting/database-errors.ts';
import type { Collection, Decision, Gate } from './gated-collection.ts';

/** A change that waits, with its collection. */
export interface Operation {
  // biome-ignore lint/suspicious/noExplicitAny: changes and results go back to where they came from.
  collection: Collection<any, any>;
  change: unknown;
}

/** Where a batch is written from: the row of an instance in the table of writers. */
export interface Place {
  instance: string;
  /** Raised with each connection, so what an older one still sends is refused. */
  epoch: number;
  /** The number of the batch, which tells later whether it was committed. */
  batch: number;
}

/** What became of a batch; `unknown` if its commit may have happened. */
export type Result<T extends Operation> =
  | { outcome: 'committed' | 'unknown'; decisions: ReadonlyMap<T, Decision<unknown>> }
  | { outcome: 'failed'; error: unknown };

/** Other sessions never wait longer for a lock that this one holds, nor this one for theirs. */
const begin: Statement = {
  text: `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = 2500;
    SET LOCAL idle_in_transaction_session_timeout = 3000`,
};

/** Fails for a writer with an older epoch, because the column takes no NULL. */
const fence = ({ instance, epoch, batch }: Place): Statement => ({
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
 * Executes operations in one transaction, as two messages to the server. Between them, `claim` returns those that somebody
 * still waits for; only these are decided and stored.
 */
export const execute = async <T extends Operation>(
  connection: Connection,
  place: Place,
  operations: readonly T[],
  claim: () => readonly T[],
): Promise<Result<T>> => {
  const parts = toParts(operations);
  const reads = parts.map(([{ collection }, own]) => [
    lockGate(collection.name),
    ...collection.read(own.map(({ change }) => change)),
  ]);
  const read = await connection.run([begin, fence(place), ...reads.flat()]);
  const failure = read.find((outcome) => 'error' in outcome);
  if (failure) {
    await connection.run([{ text: 'ROLLBACK' }]);
    return { outcome: 'failed', error: failure.error };
  }
  const results = read.map((outcome) => outcome as Exclude<Outcome, { error: Error }>);
  if (results[1]?.rowCount !== 1) return { outcome: 'failed', error: new Error('this instance is not registered') };
  const rows = results.slice(2).map((result) => result.rows);
  const claimed = new Set(claim());
  const decisions = new Map<T, Decision<unknown>>();
  const statements = parts.flatMap(([{ collection }, own], index) => {
    const [[gateRow], ...found] = rows.splice(0, reads[index]?.length) as [Row[], ...Row[][]];
    const gate: Gate = { lastId: gateRow.last_id, at: gateRow.at, counts: gateRow.counts };
    const taken = own.filter((operation) => claimed.has(operation));
    const changes = taken.map(({ change }) => change);
    const decided = collection.decide(changes, found, gate);
    for (const [at, operation] of taken.entries()) decisions.set(operation, decided.decisions[at] as Decision<unknown>);
    return decided.statements.length > 0 ? [storeGate(collection.name, gate), ...decided.statements] : [];
  });
  const { warnings } = connection;
  const written = await connection.run([...statements, { text: 'COMMIT' }]);
  return judge(written, connection.warnings > warnings, decisions);
};

/** A commit is certain if the server says so and has not warned; not to have happened if it was refused. */
const judge = <T extends Operation>(
  written: Outcome[],
  hasWarned: boolean,
  decisions: ReadonlyMap<T, Decision<unknown>>,
): Result<T> => {
  const commit = written.at(-1);
  if (!commit || 'error' in commit) {
    return isRollback(commit?.error) ? { outcome: 'failed', error: commit?.error } : { outcome: 'unknown', decisions };
  }
  if (commit.command === 'COMMIT') return { outcome: hasWarned ? 'unknown' : 'committed', decisions };
  const failure = written.find((outcome) => 'error' in outcome);
  return { outcome: 'failed', error: failure?.error ?? new Error('the server has rolled back') };
};

/** The operations of each collection, in the order of names, so no two instances wait for each other. */
const toParts = <T extends Operation>(operations: readonly T[]): [first: T, all: T[]][] => {
  const parts = new Map<string, [T, T[]]>();
  for (const operation of operations) {
    const part = parts.get(operation.collection.name);
    if (part) part[1].push(operation);
    else parts.set(operation.collection.name, [operation, [operation]]);
  }
  return [...parts].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, part]) => part);
};
