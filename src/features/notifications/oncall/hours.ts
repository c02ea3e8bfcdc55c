import { findTimeZone, ZoneClock } from '../../../lib/time-zone.ts';
import { dayMs, minuteMs } from '../../../lib/units.ts';

const weekMs = 7 * dayMs;

const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const sunday = 6;

/** Span of a day in milliseconds since its midnight. The end is exclusive, and may be on the next day. */
interface Span {
  start: number;
  end: number;
}

/** Spans that begin on each day of a week, from Monday to Sunday. */
type WeekSpans = readonly (readonly Span[])[];

/** Milliseconds to look back for the start of a period. Most hours begin or end every day. */
const firstLookMs = 2 * dayMs;

interface HoursParts {
  clock: ZoneClock;
  spans: WeekSpans;
  /** Days in `YYYY-MM-DD` form. */
  holidays: ReadonlySet<string>;
  /** True for the complement of the spans. */
  isOutside: boolean;
}

/**
 * Weekly hours in a time zone. Spans that begin on a holiday are the spans of Sunday. A span that begins before a
 * holiday lasts until its end. Hours that cover a week have no exceptions.
 */
export class Hours {
  readonly #parts: HoursParts;
  readonly #isAlways: boolean;

  constructor(parts: HoursParts) {
    this.#parts = parts;
    this.#isAlways = isWholeWeek(parts.spans);
  }

  /** True if a time (Unix milliseconds) is within the hours. */
  isWithin(at: number): boolean {
    const { clock, isOutside } = this.#parts;
    const ms = clock.toLocal(at);
    const isCovered = this.#isAlways || this.#spansAround(ms).some(({ start, end }) => start <= ms && ms < end);
    return isCovered !== isOutside;
  }

  /** Returns the first time within the hours at or after `at`, in Unix milliseconds. */
  nextWithin(at: number): number {
    let time = at;
    while (!this.isWithin(time)) time = this.#nextEdge(time);
    return time;
  }

  /** Returns the longest period around a time during which `isWithin` stays the same. Times are Unix milliseconds. */
  spanAt(at: number): { isWithin: boolean; startsAt: number; endsAt: number } {
    const isWithin = this.isWithin(at);
    if (this.#isAlways) return { isWithin, startsAt: Number.NEGATIVE_INFINITY, endsAt: Number.POSITIVE_INFINITY };
    let lookBackMs = firstLookMs;
    let startsAt = this.#nextChangeAfter(at - lookBackMs);
    while (startsAt > at) {
      lookBackMs *= 2;
      startsAt = this.#nextChangeAfter(at - lookBackMs);
    }
    let endsAt = this.#nextChangeAfter(startsAt);
    while (endsAt <= at) {
      startsAt = endsAt;
      endsAt = this.#nextChangeAfter(endsAt);
    }
    return { isWithin, startsAt, endsAt };
  }

  /** Returns the complement of these hours. Undefined if it is empty. */
  toOutside(): Hours | undefined {
    return this.#isAlways ? undefined : new Hours({ ...this.#parts, isOutside: !this.#parts.isOutside });
  }

  /** Returns the first time after `after` at which the hours begin or end. */
  #nextChangeAfter(after: number): number {
    const wasWithin = this.isWithin(after);
    let time = this.#nextEdge(after);
    while (this.isWithin(time) === wasWithin) time = this.#nextEdge(time);
    return time;
  }

  /** Returns the first time after `at` at which a span may begin or end, at latest the next midnight. */
  #nextEdge(at: number): number {
    const { clock } = this.#parts;
    const local = clock.toLocal(at);
    const edges = this.#spansAround(local).flatMap(({ start, end }) => [start, end]);
    const midnight = toMidnight(local) + dayMs;
    const next = at + Math.min(midnight, ...edges.filter((edge) => edge > local)) - local;
    // If clocks change before then, the local time is different.
    return clock.findChange(at, next) ?? next;
  }

  /** Returns the spans that begin on the day of a local time and on the day before, in local time. */
  #spansAround(local: number): Span[] {
    const today = toMidnight(local);
    return [today - dayMs, today].flatMap((day) =>
      this.#spansOf(day).map(({ start, end }) => ({ start: day + start, end: day + end })),
    );
  }

  /** Returns the spans that begin on a day, which is given by its local midnight. */
  #spansOf(day: number): readonly Span[] {
    const { spans, holidays } = this.#parts;
    const isHoliday = holidays.size > 0 && holidays.has(new Date(day).toISOString().slice(0, 10));
    return spans[isHoliday ? sunday : toRemainder(day / dayMs + firstDay, days.length)] ?? [];
  }
}

/** Day of the week of Unix time 0, a Thursday. */
const firstDay = 3;

const toMidnight = (local: number): number => Math.floor(local / dayMs) * dayMs;

/** True if the spans of all days together cover the week. */
const isWholeWeek = (spans: WeekSpans): boolean => {
  const all = spans.flatMap((own, day) =>
    own.map(({ start, end }) => ({ start: day * dayMs + start, end: day * dayMs + end })),
  );
  const sorted = [...all, ...all.map(({ start, end }) => ({ start: start + weekMs, end: end + weekMs }))].sort(
    (one, other) => one.start - other.start,
  );
  let end = weekMs;
  for (const span of sorted) if (span.start <= end) end = Math.max(end, span.end);
  return end >= 2 * weekMs;
};

/**
 * Parses hours such as `Mon-Fri 08:00-18:00, Sat 10:00-14:00 Europe/Berlin`. Without a zone in the text, `timeZone`
 * applies. `holidays` are days such as `2036-12-25`. Throws an Error that explains the problem with an example.
 */
export const parseHours = (text: string, timeZone: string, holidays: readonly string[] = []): Hours => {
  const { ranges, zone = timeZone } = splitZone(text.trim().replaceAll(/\s*-\s*/g, '-'));
  const spans: Span[][] = days.map(() => []);
  /** Days that wait for times after a comma, as in `Mon, Wed 08:00-12:00`. */
  let waiting: number[] = [];
  let last = days.map((_, index) => index);
  for (const range of ranges.split(',').map((each) => each.trim())) {
    const { listed, times } = readRange(range);
    waiting.push(...listed);
    if (times === undefined) continue;
    if (waiting.length > 0) last = waiting;
    waiting = [];
    for (const day of last) spans[day]?.push(times);
  }
  const [missing] = waiting;
  if (missing !== undefined) throw refuse(`${toDayName(missing)} has no times, such as 00:00-24:00`);
  return new Hours({ clock: new ZoneClock(zone), spans, holidays: new Set(holidays), isOutside: false });
};

const refuse = (problem: string): Error =>
  new Error(`${problem}; write times as in "Mon-Fri 08:00-18:00, Sat 10:00-14:00 Europe/Berlin"`);

/** Splits off the last word as a zone, unless the word is a day or time. */
const splitZone = (text: string): { ranges: string; zone?: string } => {
  const [, ranges = '', word = ''] = /^(.*\S)\s+([A-Za-z][^\s,]*)$/s.exec(text) ?? [];
  if (word === '' || readDays(word) !== undefined) return { ranges: text };
  const zone = findTimeZone(word);
  if (zone === undefined) throw refuse(`${JSON.stringify(word)} is not a time zone such as Europe/Berlin or UTC`);
  return { ranges, zone };
};

/** Parses one of several parts separated by commas: days, times, or both. */
const readRange = (text: string): { listed: number[]; times: Span | undefined } => {
  const words = text === '' ? [] : text.split(/\s+/);
  const [first = '', second] = words;
  const listed = readDays(first);
  const times = listed ? second : first;
  if (words.length === 0 || words.length > (listed ? 2 : 1))
    throw refuse(`${JSON.stringify(text)} is not a time of the week`);
  return { listed: listed ?? [], times: times === undefined ? undefined : readTimes(times) };
};

/** Parses days such as `Sat` or `Fri-Mon`. Undefined for any other word. */
const readDays = (word: string): number[] | undefined => {
  const [first = -1, last = first, ...rest] = word
    .toLowerCase()
    .split('-')
    .map((name) => days.indexOf(name));
  if (first < 0 || last < 0 || rest.length > 0) return undefined;
  const count = ((last - first + days.length) % days.length) + 1;
  return Array.from({ length: count }, (_, index) => (first + index) % days.length);
};

const clockTimes = /^([01]?\d|2[0-3]):([0-5]\d)-(?:([01]?\d|2[0-3]):([0-5]\d)|24:00)$/;

/** Parses times to milliseconds since midnight. An end before the start is on the next day. */
const readTimes = (word: string): Span => {
  const [, hour, minute, endHour = '24', endMinute = '00'] = clockTimes.exec(word) ?? [];
  if (hour === undefined || minute === undefined)
    throw refuse(`${JSON.stringify(word)} is not a time such as 08:00-18:00`);
  const [start, end] = [toMs(hour, minute), toMs(endHour, endMinute)];
  if (start === end) throw refuse(`${word} begins and ends at the same time: for a whole day, write 00:00-24:00`);
  return { start, end: end > start ? end : end + dayMs };
};

const toMs = (hour: string, minute: string): number => (Number(hour) * 60 + Number(minute)) * minuteMs;

/** Returns the remainder of a division. It is never negative. */
const toRemainder = (ms: number, length: number): number => ((ms % length) + length) % length;

const toDayName = (day: number): string => (days[day] ?? '').replace(/^./, (letter) => letter.toUpperCase());
