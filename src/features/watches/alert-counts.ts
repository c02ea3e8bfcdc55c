import { createSharedReading } from '../../host/reading.ts';
import { formatOf, readTime, toText } from '../../kit/alert-record.ts';
import { Slice } from '../../lib/slice.ts';
import { createLikeTest } from '../../lib/wildcards.ts';
import type { LogRecord } from '../../storage/journal/line.ts';
import type { RecordLog } from '../../storage/record-log.ts';

/** How much of the log is searched at a time. */
const maxBytes = 16 * 1024 * 1024;

/** The most alerts of a source that are counted. */
export const mostCounted = 10_000;

/** So many more are kept before the oldest of them are dropped. */
const spare = mostCounted / 4;

/** Milliseconds after which all sources are searched for again. */
const longMs = 60 * 60_000;

/** Sources that are kept; the one that was not asked for for longest makes room. */
const mostKept = 2500;

/** The alerts of a source within a time up to now. */
class Counted {
  readonly #isWanted: (source: string) => boolean;
  /** When they were received, in Unix milliseconds and in no order. */
  #times: number[] = [];
  since: number;
  /** The log was searched for those that were stored before. */
  isComplete = false;

  constructor(source: string, since: number) {
    this.#isWanted = createLikeTest(source);
    this.since = since;
  }

  get isFull(): boolean {
    return this.#times.length >= mostCounted;
  }

  add(source: string, time: number): void {
    if (time < this.since || !this.#isWanted(source)) return;
    this.#times.push(time);
    if (this.#times.length <= mostCounted + spare) return;
    this.#times.sort((one, other) => other - one);
    this.#times.length = mostCounted;
  }

  empty(): void {
    this.#times = [];
  }

  countSince(since: number): number {
    this.since = since;
    this.#times = this.#times.filter((time) => time >= since);
    return Math.min(mostCounted, this.#times.length);
  }
}

type SearchedLog = Pick<RecordLog, 'search' | 'readAfter' | 'recentAfter' | 'refresh' | 'state'>;

/**
 * Counts the alerts of sources within a time up to now. The log is searched once for all sources that are new, then only read
 * on: a thousand watches that count a week of alerts each second read each alert once.
 */
export class AlertCounts {
  readonly #log: SearchedLog;
  readonly #readOn = createSharedReading(() => this.#read(), 0);
  readonly #kept = new Map<string, Counted>();
  /** Sources that the log is to be searched for. */
  readonly #asked = new Map<string, Counted>();
  /** The last alert that the kept ones count. */
  #seq = 0;
  #now = 0;

  constructor(log: SearchedLog) {
    this.#log = log;
  }

  /** Alerts other than resolutions and those of watches, at most 10,000. `source` may have wildcards. */
  async count(source: string, ms: number, now: number): Promise<number> {
    // After the clock was set back, dropped alerts count again; after a long time, a search reads less than all that is new.
    if (now < this.#now || now - this.#now > longMs) this.#kept.clear();
    this.#now = now;
    const key = `${ms} ${source}`;
    const since = now - ms;
    const counted = this.#kept.get(key) ?? this.#asked.get(key) ?? new Counted(source, since);
    if (!counted.isComplete) this.#asked.set(key, counted);
    // A reading in progress may have begun before.
    do await this.#readOn();
    while (!counted.isComplete);
    if (this.#kept.delete(key)) this.#kept.set(key, counted);
    return counted.countSince(since);
  }

  async #read(): Promise<void> {
    await this.#log.refresh?.();
    if (this.#kept.size > 0) await this.#readAfter(this.#seq);
    else this.#seq = this.#log.state().lastSeq ?? 0;
    const asked = [...this.#asked];
    if (asked.length > 0) await this.#search(asked.map(([, counted]) => counted));
    for (const [key, counted] of asked) {
      counted.isComplete = true;
      this.#asked.delete(key);
      this.#kept.set(key, counted);
    }
    for (const key of this.#kept.keys()) {
      if (this.#kept.size <= mostKept) break;
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
    // The last records may be events of features, which are not read here.
    this.#seq = Math.max(this.#seq, lastSeq);
  }

  /** Looks for alerts up to the last one that the kept ones count. */
  async #search(asked: readonly Counted[]): Promise<void> {
    for (const counted of asked) counted.empty();
    const since = Math.min(...asked.map((counted) => counted.since));
    let wanted = asked;
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

const addTo = (all: Iterable<Counted>, record: LogRecord): void => {
  const time = readTime(record);
  if (time === undefined || formatOf(record) === 'watch' || record['status'] === 'resolved') return;
  const source = toText(record['source']);
  for (const counted of all) counted.add(source, time);
};
