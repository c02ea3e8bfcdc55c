import { setTimeout as pause } from 'node:timers/promises';
import { Slots } from '../../kit/slots.ts';
import { awaitWithin } from '../../lib/scheduling.ts';
import { createWaitForTurn } from '../../lib/slice.ts';
import type { KnownWatch } from './known-watch.ts';
import { checkAtPlaces } from './votes.ts';
import type { Finding, WatchReadings } from './watch-type.ts';

/** Maximum number of concurrent checks that use the network or start programs. */
const maxNetworkChecks = 20;

/**
 * Default timeout of a check in milliseconds. A watch with a higher limit gets its limit as the timeout, up to the
 * maximum.
 */
export const defaultTimeoutMs = 10_000;
const maxTimeoutMs = 30_000;

/** Milliseconds after the timeout at which a check that has not ended is given up. */
export const checkGraceMs = 3000;

/** Milliseconds between a fault and the retry. */
export const retryMs = 2000;

/** Runs checks, each with a timeout. */
export class CheckRunner {
  readonly #readings: WatchReadings;
  readonly #timeoutMs: number;
  readonly #slots = new Slots(maxNetworkChecks);
  /** Yields to requests. A thousand simultaneous checks must not delay them. */
  readonly #waitForTurn = createWaitForTurn();
  readonly #running = new Set<AbortController>();
  readonly #closing = new AbortController();

  constructor(readings: WatchReadings, timeoutMs = defaultTimeoutMs) {
    this.#readings = readings;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Runs a check. Resolves to its findings, or to an Error with the reason why the check failed. Never rejects. A fault
   * counts only if the retries of the watch find it again. `onEnd` is called when the check ends, even if that is long
   * after it was given up.
   */
  async run(watch: KnownWatch, onEnd: () => void): Promise<Finding[] | Error> {
    for (let retries = watch.settings.retries ?? 0; ; retries -= 1) {
      let [isEnded, isLast] = [false, false];
      const found = await this.#runOnce(watch, () => {
        isEnded = true;
        if (isLast) onEnd();
      });
      isLast = retries <= 0 || !isEnded || !isFault(found) || !(await this.#waitForRetry());
      if (!isLast) continue;
      if (isEnded) onEnd();
      return found;
    }
  }

  /** Waits before a retry. Resolves to false if the checks have been closed in the meantime. */
  #waitForRetry(): Promise<boolean> {
    return pause(retryMs, true, { signal: this.#closing.signal, ref: false }).catch(() => false);
  }

  #runOnce(watch: KnownWatch, onEnd: () => void): Promise<Finding[] | Error> {
    const { settings, type } = watch;
    const timeoutMs = Math.min(maxTimeoutMs, Math.max(this.#timeoutMs, settings.limit ?? 0, settings.critical ?? 0));
    const limited = async (): Promise<Finding[] | Error> => {
      await this.#waitForTurn();
      const checking = this.#check(watch, timeoutMs);
      void checking.then(onEnd);
      const found = await awaitWithin(timeoutMs + checkGraceMs, checking);
      return found ?? new Error(`no response within ${timeoutMs / 1000} s`);
    };
    return type.usesNetworkSlot || type.scope(settings) === 'network' ? this.#slots.run(limited) : limited();
  }

  /** Stops all checks. */
  close(): void {
    this.#closing.abort();
    for (const controller of this.#running) controller.abort();
  }

  async #check(watch: KnownWatch, timeoutMs: number): Promise<Finding[] | Error> {
    if (this.#closing.signal.aborted) return new Error('signalbox is stopping');
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), timeoutMs);
    this.#running.add(controller);
    try {
      return await checkAtPlaces(watch, this.#readings, controller.signal);
    } catch (error) {
      return error as Error;
    } finally {
      clearTimeout(timer);
      this.#running.delete(controller);
    }
  }
}

/** True for a check that failed or found a fault. A figure beyond a limit is not a fault. */
const isFault = (found: Finding[] | Error): boolean =>
  found instanceof Error || found.some((one) => 'isUnknown' in one || ('isBad' in one && one.isBad));
