import { createSharedReading } from '../../host/reading.ts';
import { formatOf, readTime, toText } from '../../kit/alert-record.ts';
import { Slice } from '../../lib/slice.ts';
import { createLikeTest } from '../../lib/wildcards.ts';
import type { LogRecord } from '../../storage/journal/line.ts';
import type { RecordLog } from '../../storage/record-log.ts';

/** Bytes of the log that a search reads per step. */
const maxBytes = 16 * 1024 * 1024;

/** Highest number of alerts counted per source. */
export const maxCount = 10_000;

/** Number of receipt times kept beyond the maximum, before the oldest are dropped together. */
const spareCount = maxCount / 4;

/**
 * Milliseconds without a count after which the whole period is searched again. Until then, only the new part of the log
 * is read.
 */
const maxGapMs = 60 * 60_000;

/** Maximum number of counts kept. The least recently used are dropped. */
const maxKept = 2500;

/** Number of alerts from a source within a period that ends now. */
class AlertCount {
  readonly #isWanted: (source: string) => boolean;
  /** Times at which the alerts were received, in Unix milliseconds, in no particular order. */
  #times: number[] = [];
  since: number;
  /** True once the log has been searched for earlier alerts. */
  isComplete = false;

  constructor(source: string, since: number) {
    this.#isWanted = createLikeTest(source);
    this.since = since;
  }

  get isFull(): boolean {
    return this.#times.length >= maxCount;
  }

  add(source: string, time: number): void {
    if (time < this.since || !this.#isWanted(source)) return;
    this.#times.push(time);
    if (this.#times.length <= maxCount + spareCount) return;
    this.#times.sort((one, other) => other - one);
    this.#times.length = maxCount;
  }

  clear(): void {
    this.#times = [];
  }

  countSince(since: number): number {
    this.since = since;
    this.#times = this.#times.filter((time) => time >= since);
    return Math.min(maxCount, this.#times.length);
  }
}

type SearchedLog = Pick<RecordLog, 'search' | 'readAfter' | 'recentAfter' | 'refresh' | 'state'>;

/**
 * Counts alerts by source within a period that ends now. The log is searched once for a new source. Afterwards, only
 * the new part of the log is read. Even if a thousand watches count a week's alerts every second, each alert is read
 * only once.
 */
export class AlertCounts {
  readonly #log: SearchedLog;
  readonly #readOn = createSharedReading(() => this.#read(), 0);
  readonly #kept = new Map<string, AlertCount>();
  /** Counts that have not been filled from the log yet. */
  readonly #new = new Map<string, AlertCount>();
  /** Seq of the last counted alert. */
  #seq = 0;
  #now = 0;

  constructor(log: SearchedLog) {
    this.#log = log;
  }

  /** Counts alerts up to 10,000. Leaves out resolutions and the alerts of watches. `source` may contain wildcards. */
  async count(source: string, ms: number, now: number): Promise<number> {
    // If the clock was set back, alerts that were dropped count again. After a long gap, a new search reads less than
    // reading on would.
    if (now < this.#now || now - this.#now > maxGapMs) this.#kept.clear();
    this.#now = now;
    const key = `${ms} ${source}`;
    const since = now - ms;
    const counted = this.#kept.get(key) ?? this.#new.get(key) ?? new AlertCount(source, since);
    if (!counted.isComplete) this.#new.set(key, counted);
    // A reading in progress may have begun before this source was added.
    do await this.#readOn();
    while (!counted.isComplete);
    if (this.#kept.delete(key)) this.#kept.set(key, counted);
    return counted.countSince(since);
  }

  async #read(): Promise<void> {
    await this.#log.refresh?.();
    if (this.#kept.size > 0) await this.#readAfter(this.#seq);
    else this.#seq = this.#log.state().lastSeq ?? 0;
    const added = [...this.#new];
    if (added.length > 0) await this.#search(added.map(([, counted]) => counted));
    for (const [key, counted] of added) {
      counted.isComplete = true;
      this.#new.delete(key);
      this.#kept.set(key, counted);
    }
    for (const key of this.#kept.keys()) {
      if (this.#kept.size <= maxKept) break;
      this.#kept.delete(key);
    }
  }

  async #readAfter(from: number): Promise<void> {
    const slice = new Slice();
    const { lastSeq = 0 } = this.#log.state();
    const recent = this.#log.recentAfter?.(from);
    for await (const records of recent ? [recent] : this.#log.readAfter(from)) {
      for (const record of records) {
        if (slice.isOver) await slice.giveWay();
        addTo(this.#kept.values(), record);
        this.#seq = record.seq;
      }
    }
    // The last records may be events. `readAfter` skips events.
    this.#seq = Math.max(this.#seq, lastSeq);
  }

  /** Searches the log for alerts up to `#seq`. */
  async #search(added: readonly AlertCount[]): Promise<void> {
    for (const counted of added) counted.clear();
    const since = Math.min(...added.map((counted) => counted.since));
    let wanted = added;
    const test = (record: LogRecord): boolean => {
      addTo(wanted, record);
      return false;
    };
    for (let before: number | undefined = this.#seq + 1; before !== undefined && wanted.length > 0; ) {
      ({ next: before } = await this.#log.search({ since, before, limit: 1, maxBytes, test }));
      wanted = wanted.filter(({ isFull }) => !isFull);
    }
  }
}

const addTo = (all: Iterable<AlertCount>, record: LogRecord): void => {
  const time = readTime(record);
  if (time === undefined || formatOf(record) === 'watch' || record['status'] === 'resolved') return;
  const source = toText(record['source']);
  for (const counted of all) counted.add(source, time);
};
