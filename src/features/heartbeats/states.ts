import { type HeartbeatState, shortenOutputs } from './runs.ts';

/** Characters of the outputs of all heartbeats together, and what is left of them once there are more. */
const mostOutputs = 16 * 1024 * 1024;
const shortenedOutputs = 12 * 1024 * 1024;

/** States of heartbeats by name. Where all outputs together exceed the bound, the longest histories lose their oldest ones. */
export class HeartbeatStates {
  readonly #states = new Map<string, HeartbeatState>();
  /** Characters of the outputs of those that have some. */
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
    if (this.#total > mostOutputs) this.#shorten();
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
    const most = findShare([...this.#lengths.values()], shortenedOutputs);
    for (const [name, length] of [...this.#lengths]) {
      const state = this.#states.get(name);
      if (state && length > most) this.#put(shortenOutputs(state, most));
    }
  }
}

/** The most that each may have so that all have `total` together: those that have less leave the rest to the others. */
const findShare = (lengths: number[], total: number): number => {
  let left = total;
  for (const [index, length] of lengths.sort((one, other) => one - other).entries()) {
    const share = Math.floor(left / (lengths.length - index));
    if (length > share) return share;
    left -= length;
  }
  return Number.POSITIVE_INFINITY;
};
