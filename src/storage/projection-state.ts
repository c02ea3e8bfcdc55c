import type { LogRecord, StoredRecord } from './journal/line.ts';
import type { FollowedLog } from './record-log.ts';
import type { OnDamage, ProjectionSnapshot } from './snapshot.ts';

/** In-memory state computed from a log's events. A projection's users write nothing else. */
export interface ProjectionState<Outcome = unknown> {
  /**
   * Folds the next event and returns its outcome, to which `append` resolves. The result depends only on state and
   * event, never on a clock or chance, so every replay and every instance computes the same state. An event of an
   * unknown kind changes nothing.
   */
  fold(event: StoredRecord): Outcome;
  /** Folds several events, if that is faster than one by one; returns an outcome for each. */
  foldTogether?(events: readonly StoredRecord[]): Outcome[];
  /**
   * Returns entries that rebuild the state as of this call, in pieces. Later events are folded while the entries are
   * written; entries may include such an event if folding it again gives the same state.
   */
  save(): Iterable<readonly unknown[]>;
  /** Adds a snapshot's entry to a state that was empty before the first entry. */
  restore(entry: unknown): void;
}

export interface ProjectionOptions<State extends ProjectionState> {
  /** Log to follow. In files, `awaitsHold` keeps segments until a snapshot has their events. */
  log: FollowedLog;
  createState: () => State;
  /** Snapshot of the state; undefined to replay the whole log on startup. */
  snapshot?: ProjectionSnapshot | undefined;
  /**
   * Resolves to the seq after which folding begins if there is no snapshot; the state is then saved immediately.
   * Rejects when `isClosed` returns true. By default, folding begins at the start of the log.
   */
  begin?: (state: State, isClosed: () => boolean) => Promise<number>;
  /** True if `open` resolves before the log has been read. */
  isRestoredLater?: boolean;
  /** True if the log has its own retention, so a snapshot is saved as soon as segments wait for one. */
  savesForRetention?: boolean;
  /** Minimum growth of the log between snapshots, in characters. */
  minGrowth?: number;
  /** Milliseconds for which others' events are collected, to be folded together. Own events are folded immediately. */
  gatherMs?: number;
  /** Record without effect; `{}` by default. */
  empty?: LogRecord;
  /**
   * Called if the log ends before the snapshot because somebody has replaced the log; the state then follows the log
   * from its end. By default, empty records are appended, so that no later event gets a seq covered by the snapshot.
   */
  onReplaced?: (state: State) => Promise<void> | void;
  /** Receives each damage of the snapshot; may throw to abort the restore. The log reports its own damage. */
  onDamage: OnDamage;
  /**
   * Receives gaps found in the log while opening, for events that depend on all earlier events. `open` rejects with an
   * error from `onGap` or `onDamage`, or if the log is unreadable.
   */
  onGap?: OnDamage;
  /** Receives the error of the first in a row of failed snapshots; meanwhile the log is kept. */
  onUnsaved(error: Error): void;
}

/** Outcome of a state's events. */
export type OutcomeOf<State extends ProjectionState> = ReturnType<State['fold']>;
