import { dayMs, minuteMs } from './units.ts';

/** Offsets change at such times. */
const blockMs = 15 * minuteMs;

/** Two changes of an offset are further apart: where it is the same at both ends, it is the same between them. */
const strideMs = 12 * 60 * minuteMs;

/** Strides of about five years. */
const mostOffsets = 4096;

/** Names that are remembered: a format of Intl costs 50 µs, and more memory than the collector knows of. */
const mostNames = 1000;

const known = new Map<string, string | undefined>();

/** The usual spelling of what Intl takes as a time zone, a name or an offset; undefined for anything else. */
export const resolveTimeZone = (text: string): string | undefined => {
  const key = text.toLowerCase();
  if (!known.has(key)) {
    if (known.size >= mostNames) known.clear();
    known.set(key, readUsualSpelling(text));
  }
  return known.get(key);
};

const readUsualSpelling = (timeZone: string): string | undefined => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
};

/** The usual spelling of a time zone's name; undefined for an unknown one, and for an offset. */
export const findTimeZone = (name: string): string | undefined =>
  /^[A-Za-z]/.test(name) ? resolveTimeZone(name) : undefined;

let own: { variable: string | undefined; name: string } | undefined;

/** The time zone of this process, which the setting `timeZone` can change. */
export const readOwnTimeZone = (): string => {
  const variable = process.env['TZ'];
  if (!own || own.variable !== variable) own = { variable, name: new Intl.DateTimeFormat().resolvedOptions().timeZone };
  return own.name;
};

/**
 * Tells what clocks of a time zone show. Times are Unix milliseconds, and local times are the milliseconds that a clock
 * would have to be set to in UTC to show the same.
 */
export class ZoneClock {
  readonly #format: Intl.DateTimeFormat;
  /** Offsets where strides begin, by the number of the stride: reading one takes microseconds. */
  readonly #offsets = new Map<number, number>();

  /** Throws a RangeError for an unknown zone. */
  constructor(timeZone: string) {
    const date = { year: 'numeric', month: 'numeric', day: 'numeric' } as const;
    const time = { hour: 'numeric', minute: 'numeric', second: 'numeric', hourCycle: 'h23' } as const;
    this.#format = new Intl.DateTimeFormat('en-US', { timeZone, ...date, ...time });
  }

  /** Milliseconds that clocks are ahead of UTC. */
  offsetAt(at: number): number {
    const stride = Math.floor(at / strideMs);
    const offset = this.#offsetOf(stride);
    if (offset === this.#offsetOf(stride + 1)) return offset;
    return this.#readOffset(Math.floor(at / blockMs) * blockMs);
  }

  toLocal(at: number): number {
    return at + this.offsetAt(at);
  }

  /** The times when clocks show a local time, the earlier one first: none where they skip it, two where they show it twice. */
  toTimes(local: number): number[] {
    const offsets = new Set([this.offsetAt(local - dayMs), this.offsetAt(local + dayMs)]);
    const times = [...offsets].map((offset) => local - offset);
    return times.filter((at) => this.toLocal(at) === local).sort((one, other) => one - other);
  }

  /** The first time when clocks show a local time, or a later one if they skip it. */
  toFirstTime(local: number): number {
    const [first] = this.toTimes(local);
    // A day before and after a change at the most: whole days have been skipped, too.
    return first ?? this.findChange(local - 2 * dayMs, local + 2 * dayMs) ?? local - this.offsetAt(local);
  }

  /** The first time after `after` when the offset is another one than before; undefined if there is none until `until`. */
  findChange(after: number, until: number): number | undefined {
    const offset = this.offsetAt(after);
    for (let low = after; low < until; low += strideMs) {
      const high = Math.min(low + strideMs, until);
      if (this.offsetAt(high) !== offset) return this.#findChange(low, high, offset);
    }
    return undefined;
  }

  /** The first block between two times that has not this offset. */
  #findChange(low: number, high: number, offset: number): number {
    let [from, to] = [Math.floor(low / blockMs), Math.floor(high / blockMs)];
    while (to - from > 1) {
      const middle = Math.floor((from + to) / 2);
      if (this.offsetAt(middle * blockMs) === offset) from = middle;
      else to = middle;
    }
    return to * blockMs;
  }

  #offsetOf(stride: number): number {
    const known = this.#offsets.get(stride);
    if (known !== undefined) return known;
    if (this.#offsets.size >= mostOffsets) this.#offsets.clear();
    const offset = this.#readOffset(stride * strideMs);
    this.#offsets.set(stride, offset);
    return offset;
  }

  #readOffset(at: number): number {
    const parts: Record<string, string> = {};
    for (const { type, value } of this.#format.formatToParts(at)) parts[type] = value;
    const { year = '', month = '', day = '', hour = '', minute = '', second = '' } = parts;
    return Date.UTC(+year, +month - 1, +day, +hour, +minute, +second) - at;
  }
}

/** True if the first ten characters, `2036-02-29`, are a day of the calendar: `Date` takes the 30th of February for the 2nd of March. */
export const isCalendarDay = (text: string): boolean => {
  const [year = 0, month = 0, day = 0] = text.slice(0, 10).split('-').map(Number);
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
};
