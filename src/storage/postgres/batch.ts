import type { Collection, Decision, Gate } from './collection.ts';
import type { Connection, Outcome, Row, Statement } from './connection.ts';
import { isStatementError } from './errors.ts';

/** A change that waits, with its collection. */
export interface Operation {
  // biome-ignore lint/suspicious/noExplicitAny: changes and results go back to where they came from.
  collection: Collection<any, any>;
  change: unknown;
  /** Set once its client has an answer. */
  readonly isSettled: boolean;
}

/** Where a batch is written from: the row of an instance in the table of writers. */
export interface Place {
  instance: string;
  /** Raised with each connection, so what an older one still sends is refused. */
  epoch: number;
  /** The number of the batch, which tells later whether it was committed. */
  batch: number;
}

/** What became of a batch whose statements were sent; `unknown` if its commit may have happened. */
export type Result =
  | { outcome: 'committed' | 'unknown'; decisions: Decision<unknown>[] }
  | { outcome: 'failed'; error: unknown };

/** Other sessions never wait longer for a lock that this one holds, nor this one for theirs. */
const begin: Statement = {
  text: `BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL lock_timeout = 2500;
    SET LOCAL idle_in_transaction_session_timeout = 3000`,
};

/** Fails for a writer with an older epoch, because the column takes no NULL. */
const fence = ({ instance, epoch, batch }: Place): Statement => ({
  text: `UPDATE signalbox.writer SET batch = $3, seen_at = now(),
    epoch = CASE WHEN epoch = $2 THEN epoch END WHERE instance = $1`,
  values: [instance, epoch, batch],
});

const lockGate = (name: string): Statement => ({
  text: `SELECT last_id, counts, extract(epoch FROM at)::float8 * 1000 AS at FROM signalbox.gate
    WHERE name = $1 FOR UPDATE`,
  values: [name],
});

const storeGate = (name: string, { lastId, at, counts }: Gate): Statement => ({
  text: 'UPDATE signalbox.gate SET last_id = $2, at = to_timestamp($3), counts = $4 WHERE name = $1',
  values: [name, lastId, at / 1000, counts],
});

/** Executes operations in one transaction, as two messages to the server; `onCommit` is called before the second. */
export const execute = async (
  connection: Connection,
  place: Place,
  operations: readonly Operation[],
  onCommit: () => void,
): Promise<Result> => {
  const parts = toParts(operations);
  const reads = parts.map(({ collection, changes }) => [lockGate(collection.name), ...collection.read(changes)]);
  const read = await connection.run([begin, fence(place), ...reads.flat()]);
  const failure = read.find((outcome) => 'error' in outcome);
  if (failure) return { outcome: 'failed', error: failure.error };
  const results = read.map((outcome) => outcome as Exclude<Outcome, { error: Error }>);
  if (results[1]?.rowCount !== 1) return { outcome: 'failed', error: new Error('this instance is not registered') };
  const rows = results.slice(2).map((result) => result.rows);
  const decisions: Decision<unknown>[] = [];
  const statements = parts.flatMap(({ collection, places }, index) => {
    const [[gateRow], ...own] = rows.splice(0, reads[index]?.length) as [Row[], ...Row[][]];
    const gate: Gate = { lastId: gateRow.last_id, at: gateRow.at, counts: gateRow.counts };
    // A change that expired while the server was waited for was not applied, as its client knows by now.
    const pending = places.filter((place) => operations[place]?.isSettled === false);
    const decided = collection.decide(
      pending.map((place) => operations[place]?.change),
      own,
      gate,
    );
    pending.forEach((place, at) => {
      decisions[place] = decided.decisions[at] as Decision<unknown>;
    });
    return decided.statements.length > 0 ? [storeGate(collection.name, gate), ...decided.statements] : [];
  });
  onCommit();
  const written = await connection.run([...statements, { text: 'COMMIT' }]);
  return judge(written, connection, decisions);
};

/** A commit is certain if the server says so and has not warned; not to have happened if it was refused. */
const judge = (written: Outcome[], { hasWarned }: Connection, decisions: Decision<unknown>[]): Result => {
  const commit = written.at(-1);
  if (!commit || 'error' in commit) {
    return isStatementError(commit?.error)
      ? { outcome: 'failed', error: commit?.error }
      : { outcome: 'unknown', decisions };
  }
  if (commit.command === 'COMMIT') return { outcome: hasWarned ? 'unknown' : 'committed', decisions };
  const failure = written.find((outcome) => 'error' in outcome);
  return { outcome: 'failed', error: failure?.error ?? new Error('the server has rolled back') };
};

/** The changes of each collection, and their places among all; in the order of names, so no two instances deadlock. */
const toParts = (operations: readonly Operation[]) => {
  const parts = new Map<string, { collection: Operation['collection']; changes: unknown[]; places: number[] }>();
  operations.forEach(({ collection, change }, place) => {
    const part = parts.get(collection.name) ?? { collection, changes: [], places: [] };
    part.changes.push(change);
    part.places.push(place);
    parts.set(collection.name, part);
  });
  return [...parts.values()].toSorted((a, b) => (a.collection.name < b.collection.name ? -1 : 1));
};
