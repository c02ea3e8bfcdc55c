import type { Row, Statement } from './connection.ts';

/** How a database keeps the changes that `signalbox export` and `import` move. */
export interface Tables<Change = unknown> {
  /** Imports lock in the order of names, as writers do. */
  name: string;
  /** Keeps others from writing until the transaction ends; the last one has a row if anything is or was stored. */
  claim: Statement[];
  /** Queries whose rows are changes, in the order of lines. */
  queries: { text: string; toChange(row: Row): Change }[];
  /** Stores changes, which come in the order of lines. */
  begin(): {
    store(changes: readonly Change[]): Statement[];
    /** Stores what is known only after the last change. */
    finish(): Statement[];
  };
}

/** Claims tables by the row of their gate. */
export const claimGate = (name: string): Statement[] => [
  { text: 'SELECT FROM signalbox.gate WHERE name = $1 FOR UPDATE', values: [name] },
  { text: 'SELECT FROM signalbox.gate WHERE name = $1 AND last_id > 0', values: [name] },
];

/** Stores the last id that was given in a gate. */
export const storeLastId = (name: string, lastId: number): Statement => ({
  text: 'UPDATE signalbox.gate SET last_id = $2 WHERE name = $1',
  values: [name, lastId],
});
