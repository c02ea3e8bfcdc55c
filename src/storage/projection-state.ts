import type { LogRecord, StoredRecord } from './journal/line.ts';
import type { FollowedLog } from './record-log.ts';
import type { OnDamage, ProjectionSnapshot } from './snapshot.ts';

/** A state in memory that the events of a log lead to. A user of a projection writes nothing else. */
export interface ProjectionState<Outcome = unknown> {
  /**
   * Folds the next event and returns its outcome, which `append` resolves to. State and event alone decide, neither a clock nor
   * chance, so every replay and every instance computes the same state. An event of an unknown kind changes nothing.
   */
  fold(event: StoredRecord): Outcome;
  /** Folds several events, where that is faster than one by one; returns an outcome for each. */
  foldTogether?(events: readonly StoredRecord[]): Outcome[];
  /**
   * Returns entries that lead to the state as of this call, in pieces. Later events are folded while the entries are written;
   * entries may include such an event if folding it again leads to the same state.
   */
  save(): Iterable<readonly unknown[]>;
  /** Adds an entry of a snapshot to a state that was empty before the first entry. */
  restore(entry: unknown): void;
}

export interface ProjectionOptions<State extends ProjectionState> {
  /** Log to follow. In files, `awaitsHold` keeps segments until a snapshot has their events. */
  log: FollowedLog;
  createState: () => State;
  /** Snapshot of the state; undefined where a start replays the whole log. */
  snapshot?: ProjectionSnapshot | undefined;
  /**
   * Resolves to the seq after which folding begins where there is no snapshot; the state is then saved at once. Rejects when
   * `isClosed` returns true. By default folding begins at the start of the log.
   */
  begin?: (state: State, isClosed: () => boolean) => Promise<number>;
  /** `open` resolves before the log is read. */
  isRestoredLater?: boolean;
  /** The log has retention of its own, so a snapshot is saved as soon as segments wait for one. */
  savesForRetention?: boolean;
  /** Characters by which the log grows at least between two snapshots. */
  minGrowth?: number;
  /** Milliseconds for which events of others are collected, to be folded together. Own events are folded at once. */
  gatherMs?: number;
  /** Record that changes nothing; `{}` by default. */
  empty?: LogRecord;
  /**
   * Called where the log ends before the snapshot because somebody has replaced the log; the state then follows the log from its
   * end. By default empty records are appended, so that no later event gets a seq that the snapshot has.
   */
  onReplaced?: (state: State) => Promise<void> | void;
  /** Receives each damage of the snapshot; may throw to end the restore. The log reports its own damage. */
  onDamage: OnDamage;
  /**
   * Receives gaps in the log while it is opened, for events that depend on all events before them. `open` rejects with an error
   * of `onGap` or `onDamage`, and for a log that cannot be read.
   */
  onGap?: OnDamage;
  /** Receives the error of the first snapshot in a row that cannot be written; the log is kept meanwhile. */
  onUnsaved(error: Error): void;
}

/** Outcome of the events of a state. */
export type OutcomeOf<State extends ProjectionState> = ReturnType<State['fold']>;
