import { dayMs, minuteMs } from './units.ts';

/** Granularity of offset changes. They happen only at multiples of 15 minutes. */
const blockMs = 15 * minuteMs;

/**
 * Length of a stride. Offset changes are more than a stride apart, so if both ends of a stride have the same offset,
 * the whole stride has that offset.
 */
const strideMs = 12 * 60 * minuteMs;

/** Maximum number of cached strides. They cover about five years. */
const maxOffsets = 4096;

/**
 * Maximum number of cached names. An Intl format costs 50 µs, and more memory than the garbage collector knows about.
 */
const maxNames = 1000;

const known = new Map<string, string | undefined>();

/** Returns the usual spelling of a time zone name or offset that Intl accepts. Undefined for any other text. */
export const resolveTimeZone = (text: string): string | undefined => {
  const key = text.toLowerCase();
  if (!known.has(key)) {
    if (known.size >= maxNames) known.clear();
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

/** Returns the usual spelling of a time zone name. Undefined for an unknown name and for an offset. */
export const findTimeZone = (name: string): string | undefined =>
  /^[A-Za-z]/.test(name) ? resolveTimeZone(name) : undefined;

let own: { variable: string | undefined; name: string } | undefined;

/** Returns the time zone of this process. The setting `timeZone` can change it. */
export const readOwnTimeZone = (): string => {
  const variable = process.env['TZ'];
  if (!own || own.variable !== variable) own = { variable, name: new Intl.DateTimeFormat().resolvedOptions().timeZone };
  return own.name;
};

/**
 * Converts between Unix time and the local time of a zone. Times are Unix milliseconds. A local time is represented by
 * the Unix time at which a clock in UTC shows the same digits.
 */
export class ZoneClock {
  readonly #format: Intl.DateTimeFormat;
  /** Offset at the start of each stride, by stride number. Cached, because reading an offset takes microseconds. */
  readonly #offsets = new Map<number, number>();

  /** @throws RangeError if the zone is unknown */
  constructor(timeZone: string) {
    const date = { year: 'numeric', month: 'numeric', day: 'numeric' } as const;
    const time = { hour: 'numeric', minute: 'numeric', second: 'numeric', hourCycle: 'h23' } as const;
    this.#format = new Intl.DateTimeFormat('en-US', { timeZone, ...date, ...time });
  }

  /** Returns the milliseconds by which clocks in the zone are ahead of UTC. */
  offsetAt(at: number): number {
    const stride = Math.floor(at / strideMs);
    const offset = this.#offsetOf(stride);
    if (offset === this.#offsetOf(stride + 1)) return offset;
    return this.#readOffset(Math.floor(at / blockMs) * blockMs);
  }

  toLocal(at: number): number {
    return at + this.offsetAt(at);
  }

  /**
   * Returns the times at which clocks show a local time, earliest first. There are none if clocks skip it, and two if
   * they show it twice.
   */
  toTimes(local: number): number[] {
    const offsets = new Set([this.offsetAt(local - dayMs), this.offsetAt(local + dayMs)]);
    const times = [...offsets].map((offset) => local - offset);
    return times.filter((at) => this.toLocal(at) === local).sort((one, other) => one - other);
  }

  /**
   * Returns the first time at which clocks show a local time. If clocks skip it, returns the time right after the
   * change.
   */
  toFirstTime(local: number): number {
    const [first] = this.toTimes(local);
    // The change is at most a day away, because zones have skipped entire days.
    return first ?? this.findChange(local - 2 * dayMs, local + 2 * dayMs) ?? local - this.offsetAt(local);
  }

  /** Returns the first time after `after` at which the offset changes. Undefined if it does not change by `until`. */
  findChange(after: number, until: number): number | undefined {
    const offset = this.offsetAt(after);
    for (let low = after; low < until; low += strideMs) {
      const high = Math.min(low + strideMs, until);
      if (this.offsetAt(high) !== offset) return this.#findChange(low, high, offset);
    }
    return undefined;
  }

  /** Returns the first block between two times with an offset other than `offset`. */
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
    if (this.#offsets.size >= maxOffsets) this.#offsets.clear();
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

/**
 * True if the first ten characters are an existing day, such as `2036-02-29`. `Date` would read 30 February as 2 March.
 */
export const isCalendarDay = (text: string): boolean => {
  const [year = 0, month = 0, day = 0] = text.slice(0, 10).split('-').map(Number);
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
};
