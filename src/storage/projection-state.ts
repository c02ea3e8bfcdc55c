import type { LogRecord, StoredRecord } from './journal/line.ts';
import type { FollowedLog } from './record-log.ts';
import type { OnDamage, ProjectionSnapshot } from './snapshot.ts';

/** State in memory that is computed only from the events of a log. */
export interface ProjectionState<Outcome = unknown> {
  /**
   * Folds the next event. Returns the outcome to which `append` resolves. The result depends only on the state and the
   * event, and never on a clock or chance, so that every replay and every instance computes the same state. An event of
   * an unknown kind changes nothing.
   */
  fold(event: StoredRecord): Outcome;
  /**
   * Folds several events. Only needed if that is faster than folding one at a time. Returns an outcome for each event.
   */
  foldTogether?(events: readonly StoredRecord[]): Outcome[];
  /**
   * Returns entries that rebuild the state as of this call, in pieces. Later events are folded while the entries are
   * being written. An entry may include the effect of such an event if folding the event again gives the same state.
   */
  save(): Iterable<readonly unknown[]>;
  /** Adds an entry of a snapshot to the state. The state is empty before the first entry. */
  restore(entry: unknown): void;
}

export interface ProjectionOptions<State extends ProjectionState> {
  /** Log to follow. In files, `awaitsHold` keeps segments until a snapshot contains their events. */
  log: FollowedLog;
  createState: () => State;
  /** Snapshot of the state. Undefined to replay the whole log on startup. */
  snapshot?: ProjectionSnapshot | undefined;
  /**
   * Resolves to the seq after which folding begins if there is no snapshot. The state is then saved immediately.
   * Rejects when `isClosed` returns true. By default, folding begins at the start of the log.
   */
  begin?: (state: State, isClosed: () => boolean) => Promise<number>;
  /** True if `open` resolves before the log has been read. */
  isRestoredLater?: boolean;
  /** True if the log has its own retention. A snapshot is then saved as soon as segments wait for it. */
  savesForRetention?: boolean;
  /** Minimum growth of the log between snapshots, in characters. */
  minGrowth?: number;
  /**
   * Milliseconds for which events of other instances are collected to be folded together. Own events are folded
   * immediately.
   */
  gatherMs?: number;
  /** Record without effect. Default: `{}`. */
  empty?: LogRecord;
  /**
   * Called if the log ends before the snapshot because somebody has replaced the log. The state then follows the log
   * from its end. By default, empty records are appended instead, so that no later event gets a seq that the snapshot
   * covers.
   */
  onReplaced?: (state: State) => Promise<void> | void;
  /** Receives each damage to the snapshot. May throw to abort the restore. The log reports its own damage. */
  onDamage: OnDamage;
  /**
   * Receives gaps found in the log while opening. For events that depend on all earlier events. `open` then rejects
   * with any error from `onGap` or `onDamage`, and if the log is unreadable.
   */
  onGap?: OnDamage;
  /**
   * Receives the error of a failed snapshot, unless the previous snapshot also failed. The log is kept in the meantime.
   */
  onUnsaved(error: Error): void;
}

/** Outcome that a state has for an event. */
export type OutcomeOf<State extends ProjectionState> = ReturnType<State['fold']>;
