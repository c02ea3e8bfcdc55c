import { JournalError } from './journal/errors.ts';
import type { LastRecord } from './record-log.ts';

/** Receives a clause that describes the damage and its place. */
export type OnDamage = (damage: string) => void;

/** Throws a JournalError with the code `damaged`, for use where any damage is fatal. */
export const refuseDamage: OnDamage = (damage) => {
  throw new JournalError('damaged', damage);
};

/**
 * Snapshot of a state as of a seq, in a file or in a table that instances share. Either the whole snapshot is stored,
 * or none of it.
 */
export interface ProjectionSnapshot {
  /** Size of the last snapshot in bytes or characters. */
  readonly size: number;
  /**
   * Restores the entries. Resolves to the seq, to 0 without a snapshot, or to undefined if the seq is unreadable.
   * `onDamage` receives each damage. Reading continues unless `onDamage` throws.
   */
  read(restore: (entry: unknown) => void, onDamage: OnDamage): Promise<number | undefined>;
  /**
   * Replaces the snapshot. `last` is the last event in the state. Undefined if no event has come after the last
   * snapshot.
   */
  write(seq: number, entries: Iterable<readonly unknown[]>, last?: LastRecord): Promise<void>;
  /** True if this instance may write a snapshot when the log has grown. Default: true. */
  mayWrite?(): boolean;
}
