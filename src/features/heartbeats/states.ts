import type { HeartbeatState } from './heartbeat-state.ts';
import { shortenOutputs } from './runs.ts';

/**
 * Limits for the outputs of all heartbeats, in characters: the maximum, and the length to which they are cut once it is
 * exceeded.
 */
const maxOutputsLength = 16 * 1024 * 1024;
const shortenedLength = 12 * 1024 * 1024;

/**
 * Heartbeat states by name. If the outputs exceed the maximum in total, the heartbeats with the longest outputs lose
 * their oldest outputs.
 */
export class HeartbeatStates {
  readonly #states = new Map<string, HeartbeatState>();
  /** Number of output characters by heartbeat. Heartbeats without output have no entry. */
  readonly #lengths = new Map<string, number>();
  #total = 0;

  get(name: string): HeartbeatState | undefined {
    return this.#states.get(name);
  }

  values(): IterableIterator<HeartbeatState> {
    return this.#states.values();
  }

  set(state: HeartbeatState): void {
    this.#put(state);
    if (this.#total > maxOutputsLength) this.#shorten();
  }

  delete(name: string): void {
    this.#states.delete(name);
    this.#count(name, 0);
  }

  #put(state: HeartbeatState): void {
    this.#states.set(state.name, state);
    this.#count(
      state.name,
      state.runs.reduce((sum, { output }) => sum + (output?.length ?? 0), 0),
    );
  }

  #count(name: string, length: number): void {
    this.#total += length - (this.#lengths.get(name) ?? 0);
    if (length > 0) this.#lengths.set(name, length);
    else this.#lengths.delete(name);
  }

  #shorten(): void {
    const share = findShare([...this.#lengths.values()], shortenedLength);
    for (const [name, length] of [...this.#lengths]) {
      const state = this.#states.get(name);
      if (state && length > share) this.#put({ ...state, runs: shortenOutputs(state.runs, share) });
    }
  }
}

/**
 * Returns the length limit per heartbeat at which all outputs together have `total` characters. Longer outputs share
 * the characters that shorter outputs leave unused.
 */
const findShare = (lengths: number[], total: number): number => {
  let left = total;
  for (const [index, length] of lengths.sort((one, other) => one - other).entries()) {
    const share = Math.floor(left / (lengths.length - index));
    if (length > share) return share;
    left -= length;
  }
  return Number.POSITIVE_INFINITY;
};
