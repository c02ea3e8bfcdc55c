import { formatOf, toText } from '../../../kit/alert-record.ts';
import { DueTimes } from '../../../kit/due-times.ts';
import type { LogRecord } from '../../../storage/journal/line.ts';
import { RecentEntries, type Remembered } from '../../../storage/recent-entries.ts';
import { readExpiry, toSeriesId } from './series.ts';

/** Maximum number of sources and of expiring alerts in memory. */
const maxSources = 20_000;
const maxExpiring = 20_000;

/** Maximum length of a source in characters. */
const maxSourceLength = 256;

/**
 * Milliseconds between two ticks. If two ticks are more than `maxGapMs` apart, the process was unable to receive
 * anything in between.
 */
export const tickMs = 1000;
const maxGapMs = 5000;

/** Receipt times relative to the moment of copying, in milliseconds. Relative times do not depend on clocks. */
export interface ReceiptCopy {
  /** Milliseconds since each source's last alert. */
  sources: [source: string, agoMs: number][];
  /** Milliseconds until each expiring alert is to be resolved, by series key. */
  ends: [series: string, leftMs: number][];
}

/**
 * Receipt times of the last alert from each source, and expiry times of alerts. Repeats are not in the log, so these
 * times are kept in copies. Only time during which this process can receive alerts counts: no alert expires because of
 * a stop, a stall or a clock change.
 */
export class ReceiptTimes {
  readonly #sources: RecentEntries<Remembered>;
  readonly #expiries = new DueTimes();
  /** Milliseconds during which the process was unable to receive anything. */
  #missed = 0;
  #tickedAt = performance.now();
  readonly #resolveTimeoutMs: () => number;
  /** True if a new source or series has been seen since the last copy. The next copy is then due soon. */
  hasNew = false;

  constructor(resolveTimeoutMs: () => number) {
    this.#resolveTimeoutMs = resolveTimeoutMs;
    this.#sources = new RecentEntries(() => new Date(this.now()), {
      keptMs: Number.POSITIVE_INFINITY,
      count: maxSources,
    });
  }

  /** Returns the milliseconds during which this process was able to receive. */
  now(): number {
    return performance.now() - this.#missed;
  }

  /** Detects gaps. Must be called at least every `tickMs`. */
  tick(): void {
    const now = performance.now();
    const gapMs = now - this.#tickedAt;
    if (gapMs > maxGapMs) this.#missed += gapMs;
    this.#tickedAt = now;
  }

  /** Records that an alert was received, even if it turns out to be a repeat. */
  receive(record: LogRecord): void {
    const source = toText(record['source']);
    if (formatOf(record) !== 'watch' && source !== '' && source.length <= maxSourceLength) {
      if (!this.#sources.find(source)) this.hasNew = true;
      this.#sources.remember(source, { storedAt: this.now() });
    }
    this.#renew(record);
  }

  #renew(record: LogRecord): void {
    const expiry = readExpiry(record);
    const series = expiry || record['status'] === 'resolved' ? toSeriesId(record) : undefined;
    if (series === undefined) return;
    if (!expiry) {
      this.forget(series);
      return;
    }
    if (!this.has(series)) {
      if (this.#expiries.size >= maxExpiring) return;
      this.hasNew = true;
    }
    this.#expiries.set(series, this.now() + (expiry.ms ?? this.#resolveTimeoutMs()));
  }

  /** Sets a logged alert to expire in `leftMs` milliseconds, unless it is already set to expire later. */
  extend(series: string, leftMs: number): void {
    const known = this.#expiries.timeOf(series);
    if (known === undefined && this.#expiries.size >= maxExpiring) return;
    this.#expiries.set(series, Math.max(known ?? Number.NEGATIVE_INFINITY, this.now() + leftMs));
  }

  /** Returns the milliseconds since the last alert from any wanted source. Undefined if there was no such alert. */
  quietMsOf(isWanted: (source: string) => boolean): number | undefined {
    let last: number | undefined;
    for (const [source, { storedAt }] of this.#sources.entries()) {
      if (storedAt > (last ?? Number.NEGATIVE_INFINITY) && isWanted(source)) last = storedAt;
    }
    return last === undefined ? undefined : this.now() - last;
  }

  /** True if the alert expired at least `graceMs` milliseconds ago. */
  hasExpired(series: string, graceMs: number): boolean {
    return (this.#expiries.timeOf(series) ?? Number.POSITIVE_INFINITY) + graceMs <= this.now();
  }

  /** Lists the series that expired at least `graceMs` milliseconds ago. They stay listed until `forget` is called. */
  listExpired(graceMs: number): string[] {
    const expired = this.#expiries.take(this.now() - graceMs);
    for (const series of expired) this.#expiries.set(series, this.now() - graceMs);
    return expired;
  }

  forget(series: string): void {
    this.#expiries.set(series, Number.POSITIVE_INFINITY);
  }

  /** True if an expiry is known for the series. */
  has(series: string): boolean {
    return this.#expiries.timeOf(series) !== undefined;
  }

  /** True if there is nothing to copy. */
  get isEmpty(): boolean {
    return this.#expiries.size === 0 && this.#sources.entries().next().done === true;
  }

  copy(): ReceiptCopy {
    const now = this.now();
    return {
      sources: Array.from(this.#sources.entries(), ([source, { storedAt }]) => [source, Math.round(now - storedAt)]),
      ends: this.#expiries.list(maxExpiring).map(({ id, at }) => [id, Math.round(at - now)]),
    };
  }

  /** Merges a copy that is `ageMs` milliseconds old. The later time wins for each entry. */
  merge({ sources, ends }: ReceiptCopy, ageMs = 0): void {
    const now = this.now();
    for (const [source, agoMs] of sources) {
      const storedAt = now - agoMs - ageMs;
      if (storedAt > (this.#sources.find(source)?.storedAt ?? Number.NEGATIVE_INFINITY)) {
        this.#sources.remember(source, { storedAt });
      }
    }
    for (const [series, leftMs] of ends) this.extend(series, leftMs - ageMs);
  }
}
