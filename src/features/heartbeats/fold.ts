import type { StoredRecord } from '../../storage/journal/line.ts';
import type { ProjectionState } from '../../storage/projection-state.ts';
import { clampOutages, type Outage } from './judge.ts';
import {
  clampTimes,
  createHeartbeatState,
  foldHeartbeat,
  type HeartbeatRecord,
  type HeartbeatState,
  parseHeartbeatRecord,
} from './runs.ts';
import { HeartbeatStates } from './states.ts';

/** Times without a server that are remembered. */
const mostOutages = 10;

/** States in one piece of a snapshot. */
const pieceCount = 50;

/** An entry of a snapshot. A table that instances write at once may have states that are newer than the snapshot: `asOf` is their seq. */
export type HeartbeatEntry = (HeartbeatState & { asOf?: number }) | { outages: readonly Outage[] };

/** Name of the heartbeat whose state is another one after a record; empty for all, undefined for none. */
type ChangedName = string | undefined;

/** All heartbeats, as what was sent to them has left them. */
export class HeartbeatsFold implements ProjectionState<ChangedName> {
  readonly #states = new HeartbeatStates();
  /** Seqs of the states that are newer than the snapshot. */
  readonly #asOf = new Map<string, number>();
  #outages: readonly Outage[] = [];

  get outages(): readonly Outage[] {
    return this.#outages;
  }

  find(name: string): HeartbeatState | undefined {
    return this.#states.get(name);
  }

  list(): IterableIterator<HeartbeatState> {
    return this.#states.values();
  }

  fold(event: StoredRecord): ChangedName {
    const record = parseHeartbeatRecord(event);
    if (!record) return undefined;
    if (record.type === 'outage') {
      this.#outages = [...this.#outages, { from: record.from, to: record.at }].slice(-mostOutages);
      return '';
    }
    if (record.type === 'clock') {
      for (const state of [...this.#states.values()]) this.#states.set(clampTimes(state, record.at));
      this.#outages = clampOutages(this.#outages, record.at);
      return '';
    }
    const { name, since } = record;
    if (event.seq <= (this.#asOf.get(name) ?? 0)) return undefined;
    const known = this.#states.get(name);
    if (record.type === 'told' && record.isForgotten) {
      if (known?.since !== since) return undefined;
      this.#states.delete(name);
      return name;
    }
    const before = known?.since === since ? known : { ...createHeartbeatState(name, since), told: known?.told ?? null };
    // One of the config file is never gone while it is pinged, and one that is expected now was made after all others: the clock
    // may have been set back meanwhile.
    const isGone = known && known.since > since && since !== 0 && record.type !== 'expected';
    const after = isGone ? foldGone(known, record) : foldHeartbeat(before, record, event.seq);
    if (after === known) return undefined;
    this.#states.set(after);
    return name;
  }

  save(): Iterable<readonly HeartbeatEntry[]> {
    return toPieces([{ outages: this.#outages }, ...this.#states.values()]);
  }

  restore(saved: unknown): void {
    const entry = saved as HeartbeatEntry;
    if ('outages' in entry) {
      this.#outages = entry.outages;
      return;
    }
    const { asOf, ...state } = entry;
    if (asOf !== undefined) this.#asOf.set(state.name, asOf);
    this.#states.set(state);
  }
}

/** The state after a record of an earlier heartbeat with its name: all that still counts is that the alert of that one ends. */
const foldGone = (state: HeartbeatState, record: HeartbeatRecord): HeartbeatState =>
  record.type === 'told' && record.alert === null && record.problem === state.told?.seq
    ? { ...state, told: null }
    : state;

function* toPieces<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let index = 0; index < all.length; index += pieceCount) yield all.slice(index, index + pieceCount);
}
