import { findTimeZone, ZoneClock } from '../../../lib/time-zone.ts';
import { dayMs, minuteMs } from '../../../lib/units.ts';

const weekMs = 7 * dayMs;

/** Monday before Unix time 0, a Thursday. Weeks are counted from this Monday. */
const firstMondayMs = -3 * dayMs;

const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

/**
 * Spans in milliseconds since Monday. There is at least one. Spans are sorted and do not overlap. Their ends are
 * exclusive.
 */
type WeekSpans = readonly (readonly [start: number, end: number])[];

/** Usual maximum milliseconds until hours recur, even if a clock change skips them in one week. */
const longestSpanMs = 16 * dayMs;

/** Weekly hours in a time zone. On holidays, the hours of Sunday apply. */
export class Hours {
  readonly #clock: ZoneClock;
  readonly #spans: WeekSpans;
  /** Days in `YYYY-MM-DD` form. */
  readonly #holidays: ReadonlySet<string>;

  constructor(clock: ZoneClock, spans: WeekSpans, holidays: ReadonlySet<string>) {
    this.#clock = clock;
    this.#spans = spans;
    this.#holidays = holidays;
  }

  /** True if a time (Unix milliseconds) is within the hours. */
  isWithin(at: number): boolean {
    const ms = this.#toWeekMs(at);
    return this.#spans.some(([start, end]) => start <= ms && ms < end);
  }

  /** Returns the first time within the hours at or after `at`, in Unix milliseconds. */
  nextWithin(at: number): number {
    let time = at;
    while (!this.isWithin(time)) {
      const ms = this.#toWeekMs(time);
      const next = this.#limit(time, Math.min(...this.#spans.map(([start]) => (start - ms + weekMs) % weekMs)));
      // If clocks change before then, the local time is different.
      time = this.#clock.findChange(time, next) ?? next;
    }
    return time;
  }

  /** Returns the longest period around a time during which `isWithin` stays the same. Times are Unix milliseconds. */
  spanAt(at: number): { isWithin: boolean; startsAt: number; endsAt: number } {
    const isWithin = this.isWithin(at);
    if (this.#spans.some(([start, end]) => end - start === weekMs)) {
      return { isWithin, startsAt: Number.NEGATIVE_INFINITY, endsAt: Number.POSITIVE_INFINITY };
    }
    let lookBackMs = longestSpanMs;
    let startsAt = this.#nextChangeAfter(at - lookBackMs);
    // Holidays in a row can be longer.
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

  /** Returns the first time after `after` at which the hours begin or end. */
  #nextChangeAfter(after: number): number {
    const wasWithin = this.isWithin(after);
    let time = after;
    do {
      const ms = this.#toWeekMs(time);
      const edges = this.#spans.flat().map((edge) => (edge - ms + weekMs) % weekMs || weekMs);
      const next = this.#limit(time, Math.min(...edges));
      // If clocks change before then, the local time is different.
      time = this.#clock.findChange(time, next) ?? next;
    } while (this.isWithin(time) === wasWithin);
    return time;
  }

  /** Returns the complement of these hours. Undefined if it is empty. */
  toOutside(): Hours | undefined {
    const edges = [0, ...this.#spans.flat(), weekMs];
    const outside: [number, number][] = [];
    for (let at = 0; at < edges.length; at += 2) outside.push([edges[at] ?? 0, edges[at + 1] ?? 0]);
    const spans = outside.filter(([start, end]) => start < end);
    return spans.length > 0 ? new Hours(this.#clock, spans, this.#holidays) : undefined;
  }

  /** Returns the local time in milliseconds since Monday. A holiday counts as a Sunday. */
  #toWeekMs(at: number): number {
    const local = this.#clock.toLocal(at);
    const isHoliday = this.#holidays.size > 0 && this.#holidays.has(new Date(local).toISOString().slice(0, 10));
    return isHoliday ? weekMs - dayMs + toDayMs(local) : toWeekMs(local);
  }

  /** Returns the time `ms` after `at`. If there are holidays, returns at latest the next midnight. */
  #limit(at: number, ms: number): number {
    return at + (this.#holidays.size > 0 ? Math.min(ms, dayMs - toDayMs(this.#clock.toLocal(at))) : ms);
  }
}

/**
 * Parses hours such as `Mon-Fri 08:00-18:00, Sat 10:00-14:00 Europe/Berlin`. Without a zone in the text, `timeZone`
 * applies. `holidays` are days such as `2036-12-25`. Throws an Error that explains the problem with an example.
 */
export const parseHours = (text: string, timeZone: string, holidays: readonly string[] = []): Hours => {
  const { ranges, zone = timeZone } = splitZone(text.trim().replaceAll(/\s*-\s*/g, '-'));
  const spans: [number, number][] = [];
  /** Days that wait for times after a comma, as in `Mon, Wed 08:00-12:00`. */
  let waiting: number[] = [];
  let last = days.map((_, index) => index);
  for (const range of ranges.split(',').map((each) => each.trim())) {
    const { listed, times } = readRange(range);
    waiting.push(...listed);
    if (times === undefined) continue;
    if (waiting.length > 0) last = waiting;
    waiting = [];
    for (const day of last) spans.push(...toSpans(day, times));
  }
  const [missing] = waiting;
  if (missing !== undefined) throw refuse(`${toDayName(missing)} has no times, such as 00:00-24:00`);
  return new Hours(new ZoneClock(zone), joinSpans(spans), new Set(holidays));
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

interface Times {
  start: number;
  end: number;
}

/** Parses one of several parts separated by commas: days, times, or both. */
const readRange = (text: string): { listed: number[]; times: Times | undefined } => {
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
const readTimes = (word: string): Times => {
  const [, hour, minute, endHour = '24', endMinute = '00'] = clockTimes.exec(word) ?? [];
  if (hour === undefined || minute === undefined)
    throw refuse(`${JSON.stringify(word)} is not a time such as 08:00-18:00`);
  const [start, end] = [toMs(hour, minute), toMs(endHour, endMinute)];
  if (start === end) throw refuse(`${word} ends when it begins: for a whole day write 00:00-24:00`);
  return { start, end: end > start ? end : end + dayMs };
};

const toMs = (hour: string, minute: string): number => (Number(hour) * 60 + Number(minute)) * minuteMs;

/** Returns spans of the week. The hours of Sunday may end on Monday. */
const toSpans = (day: number, { start, end }: Times): [number, number][] => {
  const [from, to] = [day * dayMs + start, day * dayMs + end];
  if (to <= weekMs) return [[from, to]];
  return [
    [from, weekMs],
    [0, to - weekMs],
  ];
};

const joinSpans = (spans: [number, number][]): [number, number][] => {
  const joined: [number, number][] = [];
  for (const [start, end] of spans.sort(([one], [other]) => one - other)) {
    const last = joined.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else joined.push([start, end]);
  }
  return joined;
};

const toWeekMs = (local: number): number => toRemainder(local - firstMondayMs, weekMs);

const toDayMs = (local: number): number => toRemainder(local, dayMs);

/** Returns the remainder of a division. It is never negative. */
const toRemainder = (ms: number, length: number): number => ((ms % length) + length) % length;

const toDayName = (day: number): string => (days[day] ?? '').replace(/^./, (letter) => letter.toUpperCase());
