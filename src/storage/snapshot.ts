import { JournalError } from './journal/errors.ts';
import type { LastRecord } from './record-log.ts';

/** Receives a damage with its place, as a clause. */
export type OnDamage = (damage: string) => void;

/** Throws a JournalError `damaged`, where any damage is fatal. */
export const refuseDamage: OnDamage = (damage) => {
  throw new JournalError('damaged', damage);
};

/** Snapshot of a state as of a seq, stored whole or not at all: in a file, or in a table that instances share. */
export interface ProjectionSnapshot {
  /** Bytes or characters of the last snapshot. */
  readonly size: number;
  /**
   * Restores the entries; resolves to the seq, 0 without a snapshot, undefined for a seq that cannot be read. `onDamage` receives
   * each damage; unless it throws, reading continues.
   */
  read(restore: (entry: unknown) => void, onDamage: OnDamage): Promise<number | undefined>;
  /** Replaces the snapshot. `last` is the last event that led to the state, if there was one after the last snapshot. */
  write(seq: number, entries: Iterable<readonly unknown[]>, last?: LastRecord): Promise<void>;
  /** True if this instance writes a snapshot when the log has grown; by default it does. */
  mayWrite?(): boolean;
}
