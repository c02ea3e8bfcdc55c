import { formatOf, toText } from '../../kit/alert-record.ts';
import { DueTimes } from '../../kit/due-times.ts';
import type { LogRecord } from '../../storage/journal/line.ts';
import { RecentKeys, type Remembered } from '../../storage/recent-keys.ts';
import { readHold, toSeriesKey } from './firing.ts';

/** How many sources, and alerts that end by themselves, are known. */
const mostSources = 20_000;
const mostEnds = 20_000;

/** The most characters of a source that is known. */
const longestSource = 256;

/** Milliseconds between two looks at the clock; a longer gap is time in which nothing could be received. */
export const heardLookMs = 1000;
const longestGapMs = 5000;

/** What was heard, without any clock: milliseconds before, and after, the moment of the copy. */
export interface HeardCopy {
  /** How long ago each source was heard. */
  sources: [source: string, agoMs: number][];
  /** For how long each alert still holds, by its series. */
  ends: [series: string, leftMs: number][];
}

/**
 * When sources were heard last, and until when alerts hold unless they come again. Repeats are in no log, so this is kept in
 * copies. Time counts only while this process can receive: neither a stop, a stall nor a clock that is set makes an alert end.
 */
export class Heard {
  readonly #sources: RecentKeys<Remembered>;
  readonly #ends = new DueTimes();
  /** Milliseconds in which nothing could be received. */
  #missed = 0;
  #lookedAt = performance.now();
  readonly #resolveTimeoutMs: () => number;
  /** Something new was heard of, so that a copy is due soon. */
  hasNew = false;

  constructor(resolveTimeoutMs: () => number) {
    this.#resolveTimeoutMs = resolveTimeoutMs;
    this.#sources = new RecentKeys(() => new Date(this.now()), {
      keptMs: Number.POSITIVE_INFINITY,
      count: mostSources,
    });
  }

  /** Milliseconds in which this process could receive. */
  now(): number {
    return performance.now() - this.#missed;
  }

  /** To be called at least every `heardLookMs`. */
  look(): void {
    const now = performance.now();
    const gapMs = now - this.#lookedAt;
    if (gapMs > longestGapMs) this.#missed += gapMs;
    this.#lookedAt = now;
  }

  /** Notes an alert that comes in, before it is stored or found to be a repeat. */
  hear(record: LogRecord): void {
    const source = toText(record['source']);
    if (formatOf(record) !== 'watch' && source !== '' && source.length <= longestSource) {
      if (!this.#sources.find(source)) this.hasNew = true;
      this.#sources.remember(source, { storedAt: this.now() });
    }
    this.#hold(record);
  }

  #hold(record: LogRecord): void {
    const hold = readHold(record);
    const series = hold || record['status'] === 'resolved' ? toSeriesKey(record) : undefined;
    if (series === undefined) return;
    if (!hold) {
      this.forget(series);
      return;
    }
    if (this.#ends.timeOf(series) === undefined) {
      if (this.#ends.size >= mostEnds) return;
      this.hasNew = true;
    }
    this.#ends.set(series, this.now() + (hold.ms ?? this.#resolveTimeoutMs()));
  }

  /** Notes an alert of a log that holds for so many milliseconds from now on, unless it is known to hold longer. */
  learn(series: string, holdsMs: number): void {
    const known = this.#ends.timeOf(series);
    if (known === undefined && this.#ends.size >= mostEnds) return;
    this.#ends.set(series, Math.max(known ?? Number.NEGATIVE_INFINITY, this.now() + holdsMs));
  }

  /** Milliseconds since one of the sources was heard; undefined if none is known. */
  silenceOf(isWanted: (source: string) => boolean): number | undefined {
    let last: number | undefined;
    for (const [source, { storedAt }] of this.#sources.entries()) {
      if (storedAt > (last ?? Number.NEGATIVE_INFINITY) && isWanted(source)) last = storedAt;
    }
    return last === undefined ? undefined : this.now() - last;
  }

  /** True once an alert holds no longer. */
  hasEnded(series: string, patienceMs: number): boolean {
    return (this.#ends.timeOf(series) ?? Number.POSITIVE_INFINITY) + patienceMs <= this.now();
  }

  /** Series of alerts that hold no longer, since `patienceMs`. */
  listEnded(patienceMs: number): string[] {
    const ended = this.#ends.take(this.now() - patienceMs);
    for (const series of ended) this.#ends.set(series, this.now() - patienceMs);
    return ended;
  }

  forget(series: string): void {
    this.#ends.set(series, Number.POSITIVE_INFINITY);
  }

  /** True if there is nothing to copy. */
  get isEmpty(): boolean {
    return this.#ends.size === 0 && this.#sources.entries().next().done === true;
  }

  /** True if an alert is known that ends by itself. */
  knows(series: string): boolean {
    return this.#ends.timeOf(series) !== undefined;
  }

  copy(): HeardCopy {
    const now = this.now();
    return {
      sources: Array.from(this.#sources.entries(), ([source, { storedAt }]) => [source, Math.round(now - storedAt)]),
      ends: this.#ends.list(mostEnds).map(({ id, at }) => [id, Math.round(at - now)]),
    };
  }

  /** Takes over what a copy that was made `ageMs` ago knows better. */
  merge({ sources, ends }: HeardCopy, ageMs = 0): void {
    const now = this.now();
    for (const [source, agoMs] of sources) {
      const storedAt = now - agoMs - ageMs;
      if (storedAt > (this.#sources.find(source)?.storedAt ?? Number.NEGATIVE_INFINITY)) {
        this.#sources.remember(source, { storedAt });
      }
    }
    for (const [series, leftMs] of ends) this.learn(series, leftMs - ageMs);
  }
}
