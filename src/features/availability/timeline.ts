import { type CheckState, checkStates } from '../../kit/availability.ts';
import { bisect } from '../../lib/bisect.ts';

export const daySeconds = 24 * 60 * 60;

/** Number of days with exact intervals. An older day becomes a row. */
const exactDays = 100;

/** Maximum number of rows. Corresponds to ten years. */
export const mostDayRows = 3660;

/**
 * Maximum number of exact changes per UTC day. Later intervals of that day are merged, and the merged interval keeps
 * their seconds and number of outages.
 */
export const maxChanges = 50;

/** Number of outages whose causes and incidents are remembered. */
const maxFacts = 100;

/** Code of a merged interval. The code of any other interval is the index of its state. */
const mergedCode = checkStates.length;

/** Factor that combines the second and the code of a change in one number: `second * base + code`. */
const base = 8;

/** Base for packing a row into one number: three counts and a flag. A day's seconds in one state fit into 17 bits. */
const rowBase = 2 ** 17;

/** Flag of a row whose seconds are estimated. */
const estimatedRow = rowBase ** 3;

const downCode = checkStates.indexOf('down');
const unknownCode = checkStates.indexOf('unknown');

/** Merged intervals: seconds by state, and the number of outages. */
interface Merged {
  seconds: number[];
  outages: number;
  /**
   * True if the seconds are estimated: the clock was set back into the merged intervals, so their seconds were divided
   * in proportion.
   */
  isEstimated: boolean;
}

/** Cause and incident of an outage. */
export interface OutageFacts {
  cause: string | null;
  incident: number | null;
}

/** Outage. Times are Unix seconds. */
interface TimelineOutage extends OutageFacts {
  start: number;
  /** Undefined for the current outage. */
  end: number | undefined;
  seconds: number;
  count: number;
}

/** Timeline as stored in a snapshot. */
export interface TimelineSnapshot {
  changes: number[];
  merged: (readonly [start: number, outages: number, ...seconds: number[]])[];
  facts: (readonly [start: number, cause: string | null, incident: number | null])[];
  firstDay: number;
  rows: number[];
}

/** States of one check over time, in Unix seconds. Takes up at most 150 kB, no matter how often the state changes. */
export class Timeline {
  /** Changes in order. Each combines a second with the code of the state that begins then. */
  #changes: number[] = [];
  /** Merged intervals by their start. */
  readonly #merged = new Map<number, Merged>();
  /** Facts about outages by their start, oldest first. */
  readonly #facts = new Map<number, OutageFacts>();
  /** UTC day number of the first row. */
  #firstDay = 0;
  /** Packed counts of the seconds in each state, for each day before the first change. */
  #rows: number[] = [];

  get state(): CheckState {
    return checkStates[this.#lastCode ?? unknownCode] ?? 'unknown';
  }

  /** Second of the last change. 0 if there is none. */
  get since(): number {
    return startOf(this.#changes.at(-1) ?? 0);
  }

  /** Begins a state. If the time is before the last change, the time of the last change is used. */
  change(state: CheckState, second: number, facts?: OutageFacts): void {
    const at = Math.max(second, this.since);
    const code = checkStates.indexOf(state);
    if (this.#lastCode === code) return;
    // A state without any duration leaves no trace.
    if (this.#changes.length > 0 && at === this.since) this.#removeLast();
    else if (this.#countOn(at) >= maxChanges) this.#mergeLast(at);
    if (this.#lastCode !== code) {
      this.#changes.push(at * base + code);
      if (state === 'down' && facts) this.#setFacts(at, facts);
    }
    this.#prune(at);
  }

  /** Sets the incident of the current outage. */
  setIncident(incident: number): void {
    if (this.lacksIncident) this.#setFacts(this.since, { cause: this.#facts.get(this.since)?.cause ?? null, incident });
  }

  /** True for a current outage without a known incident. */
  get lacksIncident(): boolean {
    return this.state === 'down' && !this.#facts.get(this.since)?.incident;
  }

  /**
   * Forgets all changes after the given second, because the clock was set back. The current state then begins at that
   * second.
   */
  cut(second: number): void {
    const { state } = this;
    const at = Math.max(second, (this.#firstDay + this.#rows.length) * daySeconds);
    if (at >= this.since) return;
    const facts = this.#facts.get(this.since);
    let end = at;
    while (this.since > at) {
      end = this.since;
      this.#removeLast();
    }
    const merged = this.#merged.get(this.since);
    if (merged && at < end) {
      merged.seconds = divide(merged.seconds, at - this.since, end - this.since);
      merged.isEstimated = true;
    }
    this.change(state, at, facts);
  }

  /** Counts the seconds in each state within a range, by code. The range must not end in the future. */
  count(from: number, until: number): { seconds: number[]; isExact: boolean } {
    const seconds = checkStates.map(() => 0);
    let isExact = true;
    const add = (start: number, end: number, parts: readonly number[], isEstimated = false): void => {
      const length = Math.min(end, until) - Math.max(start, from);
      if (length <= 0) return;
      const isWhole = length === end - start || parts.filter((part) => part > 0).length < 2;
      isExact &&= isWhole && !isEstimated;
      for (const [code, part] of divide(parts, length, end - start).entries())
        seconds[code] = (seconds[code] ?? 0) + part;
    };
    const days = [Math.floor(from / daySeconds), Math.ceil(until / daySeconds)] as const;
    const last = this.#firstDay + this.#rows.length;
    for (let day = Math.max(days[0], this.#firstDay); day < Math.min(days[1], last); day += 1) {
      const row = this.#rows[day - this.#firstDay] ?? 0;
      add(day * daySeconds, (day + 1) * daySeconds, fromRow(row), row >= estimatedRow);
    }
    for (const { start, end = until, code } of this.#intervals(from, until)) {
      const merged = this.#merged.get(start);
      if (code === mergedCode && merged) add(start, end, merged.seconds, merged.isEstimated);
      else
        add(
          start,
          end,
          checkStates.map((_, index) => (index === code ? end - start : 0)),
        );
    }
    const known = seconds.reduce((sum, part) => sum + part, 0);
    // Nothing was observed before the first change.
    seconds[unknownCode] = (seconds[unknownCode] ?? 0) + Math.max(0, until - from - known);
    return { seconds, isExact };
  }

  /** Lists the outages that overlap a range, oldest first. */
  listOutages(from: number, until: number): TimelineOutage[] {
    const outages: TimelineOutage[] = [];
    for (const { start, end, code } of this.#intervals(from, until)) {
      const { seconds = [], outages: count = 1 } = (code === mergedCode && this.#merged.get(start)) || {};
      if (count === 0 || (code !== downCode && code !== mergedCode)) continue;
      const down = code === downCode ? (end ?? until) - start : (seconds[downCode] ?? 0);
      const { cause = null, incident = null } = this.#facts.get(start) ?? {};
      outages.push({ start, end, seconds: down, count, cause, incident });
    }
    return outages;
  }

  save(): TimelineSnapshot {
    return {
      changes: [...this.#changes],
      merged: Array.from(this.#merged, toSavedMerged),
      facts: Array.from(this.#facts, ([start, { cause, incident }]) => [start, cause, incident] as const),
      firstDay: this.#firstDay,
      rows: [...this.#rows],
    };
  }

  static restore({ changes, merged, facts, firstDay, rows }: TimelineSnapshot): Timeline {
    const timeline = new Timeline();
    timeline.#changes = [...changes].sort((one, other) => one - other);
    for (const [start, outages, ...rest] of merged) {
      const seconds = rest.slice(0, checkStates.length);
      timeline.#merged.set(start, { outages, seconds, isEstimated: rest.length > seconds.length });
    }
    for (const [start, cause, incident] of facts) timeline.#facts.set(start, { cause, incident });
    timeline.#firstDay = firstDay;
    timeline.#rows = rows.slice(-mostDayRows);
    return timeline;
  }

  /** Yields the intervals that overlap a range. The last interval is open-ended. */
  *#intervals(from: number, until: number) {
    const next = bisect(this.#changes, (change) => startOf(change) <= from);
    for (let index = Math.max(0, next - 1); index < this.#changes.length; index += 1) {
      const change = this.#changes[index] ?? 0;
      const following = this.#changes[index + 1];
      const start = startOf(change);
      // The current interval may have just begun.
      if (start > until || (start === until && following !== undefined)) return;
      const end = following === undefined ? undefined : startOf(following);
      if ((end ?? until) > from) yield { start, end, code: codeOf(change) };
    }
  }

  /** Code of the last interval. Undefined if there are no intervals. */
  get #lastCode(): number | undefined {
    const last = this.#changes.at(-1);
    return last === undefined ? undefined : codeOf(last);
  }

  #countOn(second: number): number {
    const dayStart = second - (second % daySeconds);
    return this.#changes.length - bisect(this.#changes, (change) => startOf(change) < dayStart);
  }

  /** Merges the last interval into the interval before it. The last interval ends at the given second. */
  #mergeLast(at: number): void {
    const last = this.#changes.pop() ?? 0;
    const before = this.#changes.pop() ?? 0;
    const [start, end] = [startOf(before), startOf(last)];
    const isMerged = codeOf(before) === mergedCode;
    const merged: Merged = (isMerged && this.#merged.get(start)) || {
      seconds: checkStates.map(() => 0),
      outages: 0,
      isEstimated: false,
    };
    const add = (change: number, seconds: number): void => {
      const code = codeOf(change);
      merged.seconds[code] = (merged.seconds[code] ?? 0) + seconds;
      if (code === downCode) merged.outages += 1;
    };
    if (!isMerged) add(before, end - start);
    add(last, at - end);
    this.#merged.set(start, merged);
    const facts = this.#facts.get(end);
    this.#facts.delete(end);
    if (facts) this.#setFacts(start, facts);
    this.#changes.push(start * base + mergedCode);
  }

  #removeLast(): void {
    const start = startOf(this.#changes.pop() ?? 0);
    this.#merged.delete(start);
    this.#facts.delete(start);
  }

  #setFacts(start: number, facts: OutageFacts): void {
    this.#facts.delete(start);
    this.#facts.set(start, facts);
    const [oldest] = this.#facts.keys();
    if (this.#facts.size > maxFacts && oldest !== undefined) this.#facts.delete(oldest);
  }

  /** Converts days that no longer need exact intervals to rows. */
  #prune(at: number): void {
    const firstExact = Math.floor(at / daySeconds) - exactDays;
    const first = startOf(this.#changes[0] ?? 0);
    if (first >= firstExact * daySeconds) return;
    const rowsEnd = this.#firstDay + this.#rows.length;
    const begin = Math.max(this.#rows.length > 0 ? rowsEnd : Math.floor(first / daySeconds), firstExact - mostDayRows);
    if (this.#rows.length === 0 || begin > rowsEnd) [this.#firstDay, this.#rows] = [begin, []];
    for (let day = begin; day < firstExact; day += 1) {
      const { seconds, isExact } = this.count(day * daySeconds, (day + 1) * daySeconds);
      this.#rows.push(toRow(seconds) + (isExact ? 0 : estimatedRow));
    }
    const excess = Math.max(0, this.#rows.length - mostDayRows);
    this.#rows.splice(0, excess);
    this.#firstDay += excess;
    const border = firstExact * daySeconds;
    const next = bisect(this.#changes, (change) => startOf(change) <= border);
    const code = codeOf(this.#changes[next - 1] ?? unknownCode);
    const { cause = null, incident = null } = this.#facts.get(startOf(this.#changes[next - 1] ?? 0)) ?? {};
    this.#changes.splice(0, next, border * base + code);
    for (const start of [...this.#merged.keys()]) if (start < border) this.#merged.delete(start);
    for (const start of [...this.#facts.keys()]) if (start < border) this.#facts.delete(start);
    if (code === downCode && cause !== null) this.#facts.set(border, { cause, incident });
  }
}

/**
 * True if a timeline can be restored. Changes must be in order and have known states, and merged intervals must be
 * complete.
 */
export const isConsistent = ({
  changes,
  merged,
  rows,
}: {
  changes: number[];
  merged: number[][];
  rows: number[];
}): boolean => {
  const starts = new Set(merged.map(([start]) => start));
  return (
    changes.every((change, index) => {
      const code = codeOf(change);
      const isAfter = index === 0 || startOf(change) > startOf(changes[index - 1] ?? 0);
      return isAfter && (code === mergedCode ? starts.has(startOf(change)) : code < mergedCode);
    }) &&
    codeOf(changes.at(-1) ?? 0) !== mergedCode &&
    rows.every((row) => row < 2 * estimatedRow && fromRow(row).every((part) => part >= 0 && part <= daySeconds))
  );
};

/** Converts a merged interval to its stored form. A final 1 marks estimated seconds. */
const toSavedMerged = ([start, { outages, seconds, isEstimated }]: [number, Merged]) =>
  [start, outages, ...seconds, ...(isEstimated ? [1] : [])] as const;

/** Returns a timeline that ends at the current time. A timeline records no change before its last entry. */
export const withoutFuture = (saved: TimelineSnapshot, now: number): TimelineSnapshot => {
  const rows = saved.rows.slice(0, Math.max(0, Math.floor(now / daySeconds) - saved.firstDay));
  const timeline = Timeline.restore({ ...saved, rows, firstDay: rows.length > 0 ? saved.firstDay : 0 });
  timeline.cut(now);
  return timeline.save();
};

const startOf = (change: number): number => Math.floor(change / base);
const codeOf = (change: number): number => change % base;

/** Divides a length in proportion to the parts. The results are whole numbers that add up to `length`. */
const divide = (parts: readonly number[], length: number, whole: number): number[] => {
  if (length === whole) return [...parts];
  let [sum, given] = [0, 0];
  return parts.map((part) => {
    sum += part;
    const before = given;
    given = Math.round((sum * length) / whole);
    return given - before;
  });
};

const toRow = ([up = 0, down = 0, maintenance = 0]: readonly number[]): number =>
  up + rowBase * (down + rowBase * maintenance);

const fromRow = (row: number): number[] => {
  const [up, down] = [row % rowBase, Math.floor(row / rowBase) % rowBase];
  const maintenance = Math.floor(row / (rowBase * rowBase)) % rowBase;
  return [up, down, maintenance, daySeconds - up - down - maintenance];
};
