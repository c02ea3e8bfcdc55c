import { StoreUnavailable } from '../../lib/expected-errors.ts';
import type { LastAlive } from './last-alive.ts';
import type { HeartbeatStore } from './store.ts';

/**
 * Maximum milliseconds between two clock checks. A longer gap means that the machine was asleep or that its clock was
 * set forward.
 */
const maxGapMs = 90_000;

/** Minimum milliseconds by which the clock must be set back to count as changed. */
const setBackMs = 30_000;

/** Milliseconds between two writes of the time at which the server was last alive. */
const writeMs = 60_000;

interface OutageParts {
  store: Pick<HeartbeatStore, 'append' | 'catchUp' | 'isCurrent'>;
  alive: LastAlive;
  /** Resolves to true if any heartbeat became due or was already overdue between the two times. */
  isMissed(from: number, until: number): Promise<boolean>;
}

/** Records outages and clock changes. */
export class OutageRecorder {
  readonly #parts: OutageParts;
  /** Clock reading at the last check. */
  #seenAt = 0;
  #writtenAt = 0;
  #hasBegun = false;

  constructor(parts: OutageParts) {
    this.#parts = parts;
  }

  /** True once the outage before startup has been recorded. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /**
   * Records that the server is alive, and any outage since the previous call. Rejects with StoreUnavailable if the
   * outage cannot be stored.
   */
  async note(now: number): Promise<void> {
    const { store, alive } = this.#parts;
    if (!this.#hasBegun) {
      await this.#noteStart(now);
      this.#hasBegun = true;
      this.#seenAt = now;
    } else if (now < this.#seenAt - setBackMs) {
      await store.append({ type: 'clock', at: now });
    } else if (now - this.#seenAt > maxGapMs) {
      await store.append({ type: 'outage', from: this.#seenAt, at: now });
    }
    this.#seenAt = now;
    if (Math.abs(now - this.#writtenAt) < writeMs) return;
    await alive.write(now);
    this.#writtenAt = now;
  }

  async close(now: number): Promise<void> {
    await this.#parts.alive.write(now).catch(() => undefined);
  }

  async #noteStart(now: number): Promise<void> {
    const { store, alive, isMissed } = this.#parts;
    await store.catchUp();
    if (!store.isCurrent) throw new StoreUnavailable('The heartbeat log is still being read; try again in a second');
    const from = (await alive.read()) ?? 0;
    if (from > now + setBackMs) await store.append({ type: 'clock', at: now });
    else if (await isMissed(from, now)) await store.append({ type: 'outage', from, at: now });
  }
}
