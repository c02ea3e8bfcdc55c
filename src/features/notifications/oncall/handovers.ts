import { type CronTimes, createCron, splitCron } from '../../../kit/cron.ts';
import { bisect } from '../../../lib/bisect.ts';
import type { ZoneClock } from '../../../lib/time-zone.ts';
import { dayMs, minuteMs } from '../../../lib/units.ts';

/** Maximum number of handovers per day. A shift of less than an hour indicates a mistake in the cron expression. */
const mostADay = 24;

/** First and last years for which handovers are computed. */
const firstYear = 1970;
const lastYear = 2200;

/** Number of years to search for a handover. Leap years can be eight years apart. */
const yearsToTry = 9;

interface Year {
  /** Handover times in order. */
  times: readonly number[];
  /** Number of the first handover of the year. In a year without handovers, the number of the next handover. */
  first: number;
}

/**
 * Handovers of a cron expression, numbered from 0 for the first handover at or after the start. Handovers are computed
 * and cached one year at a time. Counting over many years then takes only milliseconds. If a clock change skips the
 * local time of a handover, the handover happens right after the skip. If a local time occurs twice, only its first
 * occurrence is a handover, unless handovers are hourly.
 */
export class Handovers {
  readonly #clock: ZoneClock;
  /** Schedule that runs at midnight UTC on each day matched by the expression. */
  readonly #days: CronTimes;
  /** Handover times within a day, in milliseconds since midnight. */
  readonly #times: readonly number[];
  readonly #isHourly: boolean;
  readonly #start: number;
  readonly #startYear: number;
  readonly #years = new Map<number, Year>();

  /**
   * Creates the handovers. `cron` has five fields: minute, hour, day of month, month, day of week. `start` is in Unix
   * milliseconds. Throws an Error that explains the problem.
   */
  constructor(cron: string, clock: ZoneClock, start: number) {
    const [minute, hour, ...date] = splitCron(cron);
    this.#times = readTimesOfDay(`${minute} ${hour} * * *`);
    this.#isHourly = new Set(this.#times.map((ms) => Math.floor(ms / (60 * minuteMs)))).size === 24;
    this.#days = createCron(`0 0 ${date.join(' ')}`, { utcOffset: 0 });
    this.#clock = clock;
    this.#start = start;
    this.#startYear = this.#toYear(start);
    const years = Array.from({ length: yearsToTry }, (_, index) => this.#startYear + index);
    if (years.every((year) => this.#readYear(year).times.length === 0)) {
      throw new Error(`${JSON.stringify(cron)} never matches a date`);
    }
  }

  /** Returns the number of the last handover at or before a time. */
  numberAt(at: number): number {
    const { times, first } = this.#readYear(this.#toYear(at));
    return first + countUntil(times, at) - 1;
  }

  /** Returns the time of the handover with this number. Undefined outside the computed years. */
  timeOf(number: number): number | undefined {
    let year = this.#startYear;
    while (year >= firstYear && year <= lastYear) {
      const { times, first } = this.#readYear(year);
      if (number < first) year -= 1;
      else if (number < first + times.length) return times[number - first];
      else year += 1;
    }
    return undefined;
  }

  #toYear(at: number): number {
    const year = new Date(this.#clock.toLocal(at)).getUTCFullYear();
    return Math.min(Math.max(year, firstYear), lastYear);
  }

  #readYear(year: number): Year {
    const known = this.#years.get(year);
    if (known) return known;
    const times = this.#findTimes(year);
    const added = { times, first: this.#numberFirst(year, times) };
    this.#years.set(year, added);
    return added;
  }

  #numberFirst(year: number, times: readonly number[]): number {
    if (year === this.#startYear) return -countUntil(times, this.#start - 1);
    if (year < this.#startYear) return this.#readYear(year + 1).first - times.length;
    const before = this.#readYear(year - 1);
    return before.first + before.times.length;
  }

  #findTimes(year: number): number[] {
    const found: number[] = [];
    const end = Date.UTC(year + 1, 0, 1);
    let day = this.#days.nextRun(new Date(Date.UTC(year, 0, 1) - 1));
    while (day && day.getTime() < end) {
      for (const time of this.#times) found.push(...this.#toTimes(day.getTime() + time));
      day = this.#days.nextRun(day);
    }
    // A handover at a skipped time may coincide with the next handover.
    return [...new Set(found)].sort((one, other) => one - other);
  }

  #toTimes(local: number): number[] {
    if (this.#isHourly) return this.#clock.toTimes(local);
    return [this.#clock.toFirstTime(local)];
  }
}

/** Returns the times of day in a cron expression, in milliseconds since midnight. */
const readTimesOfDay = (cron: string): number[] => {
  const times: number[] = [];
  const parsed = createCron(cron, { utcOffset: 0 });
  let run = parsed.nextRun(new Date(-1));
  while (run && run.getTime() < dayMs) {
    times.push(run.getTime());
    if (times.length > mostADay)
      throw new Error(`handovers must be at most hourly, but this expression has more than ${mostADay} a day`);
    run = parsed.nextRun(run);
  }
  return times;
};

/** Counts the sorted times at or before `at`. */
const countUntil = (times: readonly number[], at: number): number => bisect(times, (time) => time <= at);
