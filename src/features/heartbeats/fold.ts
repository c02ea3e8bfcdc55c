import type { StoredRecord } from '../../storage/journal/line.ts';
import type { ProjectionState } from '../../storage/projection-state.ts';
import {
  clampTimes,
  createHeartbeatState,
  foldHeartbeat,
  fromTransferred,
  type HeartbeatState,
} from './heartbeat-state.ts';
import { clampOutages, type Outage } from './outages.ts';
import { type HeartbeatRecord, parseHeartbeatRecord } from './records.ts';
import { HeartbeatStates } from './states.ts';

/** Maximum number of outages remembered. */
const maxOutages = 10;

/** Number of states in one piece of a snapshot. */
const pieceSize = 50;

/**
 * Entry of a snapshot. `asOf` is the seq of a state that is newer than the snapshot. Such states exist because several
 * instances write the table.
 */
export type HeartbeatEntry = (HeartbeatState & { asOf?: number }) | { outages: readonly Outage[] };

/** Name of the heartbeat whose state a record has changed. Empty for all heartbeats, undefined for none. */
type ChangedName = string | undefined;

/** State of all heartbeats, folded from the log. */
export class HeartbeatsFold implements ProjectionState<ChangedName> {
  readonly #states = new HeartbeatStates();
  /** Seqs of states newer than the snapshot, by name. */
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
      this.#addOutage({ from: record.from, to: record.at });
      return '';
    }
    if (record.type === 'clock') {
      for (const state of [...this.#states.values()]) this.#states.set(clampTimes(state, record.at));
      this.#outages = clampOutages(this.#outages, record.at);
      return '';
    }
    const { name, since } = record;
    // All records of an import have the same time.
    const isImport = record.type === 'moved' && this.#outages.at(-1)?.to !== record.at;
    if (isImport) this.#addOutage({ from: 0, to: record.at });
    if (event.seq <= (this.#asOf.get(name) ?? 0)) return undefined;
    if (record.type === 'moved') {
      this.#states.set(fromTransferred(record.state, event.seq));
      return isImport ? '' : name;
    }
    const known = this.#states.get(name);
    if (record.type === 'told' && record.isForgotten) {
      if (known?.since !== since) return undefined;
      this.#states.delete(name);
      return name;
    }
    const before = known?.since === since ? known : { ...createHeartbeatState(name, since), told: known?.told ?? null };
    // If two heartbeats share a name, the one created later is the successor. There are two exceptions: heartbeats from
    // the config file have no creation time, and if the clock was set back, the heartbeat of an `expected` record is
    // the newest.
    const isGone = known && known.since > since && since !== 0 && record.type !== 'expected';
    const after = isGone ? foldGone(known, record) : foldHeartbeat(before, record, event.seq);
    if (after === known) return undefined;
    this.#states.set(after);
    return name;
  }

  #addOutage(outage: Outage): void {
    this.#outages = [...this.#outages, outage].slice(-maxOutages);
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

/** Folds a record about a deleted heartbeat with the same name. Only a resolution of its alert has an effect. */
const foldGone = (state: HeartbeatState, record: HeartbeatRecord): HeartbeatState =>
  record.type === 'told' && record.alert === null && record.problem === state.told?.seq
    ? { ...state, told: null }
    : state;

function* toPieces<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let index = 0; index < all.length; index += pieceSize) yield all.slice(index, index + pieceSize);
}
