import { JournalError } from './journal/errors.ts';
import type { LastRecord } from './record-log.ts';

/** Gets what is damaged, and where, as a clause. */
export type OnDamage = (damage: string) => void;

/** For damage that nobody may overlook. @throws JournalError `damaged` */
export const refuseDamage: OnDamage = (damage) => {
  throw new JournalError('damaged', damage);
};

/** Keeps the entries of a state as of a seq, whole or not at all: in a file, or in a table that instances share. */
export interface ProjectionSnapshot {
  /** Bytes or characters of the last snapshot. */
  readonly size: number;
  /**
   * Resolves to the seq, 0 without a snapshot, undefined if it cannot be read. `onDamage` gets each damage; unless it throws,
   * reading goes on.
   */
  read(restore: (entry: unknown) => void, onDamage: OnDamage): Promise<number | undefined>;
  /** `last` is the last event that led to the state, as far as there is one after the last snapshot. */
  write(seq: number, entries: Iterable<readonly unknown[]>, last?: LastRecord): Promise<void>;
  /** Whether this instance is the one that writes a snapshot when the log has grown; by default it is. */
  mayWrite?(): boolean;
}
