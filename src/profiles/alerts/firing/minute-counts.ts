import { type Severity, severities } from '../../severity.ts';

const minuteMs = 60_000;

/** Counts by severity of the last minutes, in arrays that are allocated once. */
export class MinuteCounts {
  readonly #minutes: number;
  /** Which minute, since 1970, each slot is about. */
  readonly #times: Float64Array;
  readonly #counts: Record<Severity, Int32Array>;

  constructor(minutes: number) {
    this.#minutes = minutes;
    this.#times = new Float64Array(minutes);
    const create = () => new Int32Array(minutes);
    this.#counts = { CRITICAL: create(), ERROR: create(), WARNING: create(), INFO: create() };
  }

  /** Adds to the count of the minute that a time in Unix milliseconds is in; older ones than the slot's are ignored. */
  add(severity: Severity, time: number, count: number): void {
    const minute = Math.floor(time / minuteMs);
    const slot = minute % this.#minutes;
    const known = this.#times[slot] ?? 0;
    if (minute < known) return;
    if (minute > known) for (const each of severities) this.#counts[each][slot] = 0;
    this.#times[slot] = minute;
    const counts = this.#counts[severity];
    counts[slot] = Math.max(0, (counts[slot] ?? 0) + count);
  }

  /** The sum of the minutes before `now`, its own included. */
  sum(severity: Severity, now: number): number {
    const first = Math.floor(now / minuteMs) - this.#minutes;
    const counts = this.#counts[severity];
    let sum = 0;
    for (const [slot, minute] of this.#times.entries()) if (minute > first) sum += counts[slot] ?? 0;
    return sum;
  }
}
