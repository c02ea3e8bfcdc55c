import { computed } from '@preact/signals';
import { text } from './strings/index.ts';
import { zone } from './zone.ts';

/**
 * Language of dates and numbers. This is the browser's language if it is English, otherwise British English, because
 * the console is English-only.
 */
const language = /^en\b/i.test(navigator.language) ? navigator.language : 'en-GB';

const create = <T>(build: (language: string) => T): T => {
  try {
    return build(language);
  } catch {
    // The language tag of the system is malformed.
    return build('en-GB');
  }
};

/** True if the browser's language uses a 12-hour clock. */
const isTwelveHours = ((): boolean => {
  try {
    return new Intl.DateTimeFormat(navigator.language, { hour: 'numeric' }).resolvedOptions().hour12 === true;
  } catch {
    return false;
  }
})();

const whole = create((tag) => new Intl.NumberFormat(tag, { maximumFractionDigits: 0 }));
const oneDigit = create((tag) => new Intl.NumberFormat(tag, { maximumFractionDigits: 1, minimumFractionDigits: 1 }));
const threeDigits = create((tag) => new Intl.NumberFormat(tag, { maximumSignificantDigits: 3 }));
const relative = create((tag) => new Intl.RelativeTimeFormat(tag, { numeric: 'auto', style: 'short' }));

const clock: Intl.DateTimeFormatOptions = isTwelveHours
  ? { hour: 'numeric', hourCycle: 'h12', minute: '2-digit' }
  : { hour: '2-digit', hourCycle: 'h23', minute: '2-digit' };

/** Time formats in the displayed zone. */
const times = computed(() => {
  const build = (options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat =>
    create((tag) => new Intl.DateTimeFormat(tag, { timeZone: zone.value, ...options }));
  const date = { year: 'numeric', month: 'short', day: 'numeric' } as const;
  return {
    clock: build({ ...clock, second: '2-digit' }),
    shortClock: build(clock),
    full: build({ ...date, ...clock, second: '2-digit', timeZoneName: 'shortOffset' }),
    day: build({ month: 'short', day: 'numeric' }),
    date: build(date),
    weekday: build({ weekday: 'short' }),
  };
});

export const toCount = (value: number): string => whole.format(value);
/** Formats a number with three significant digits: `0.25`, `12.3`. */
export const toShortNumber = (value: number): string => (value < 100 ? threeDigits : whole).format(value);
export const toPercent = (value: number): string => `${oneDigit.format(value)} %`;

/** Cuts a string to at most this many characters. */
export const shorten = (value: string, most: number): string =>
  value.length > most ? `${value.slice(0, most)}…` : value;

const byteUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

/** Formats a number of bytes: `1610612736` → `1.5 GiB`. */
export const toBytes = (bytes: number): string => {
  const power = bytes < 1 ? 0 : Math.min(byteUnits.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** power;
  return `${power === 0 || value >= 100 ? whole.format(value) : oneDigit.format(value)} ${byteUnits[power]}`;
};

/** Formats an axis label: `16 MiB`. */
export const toWholeBytes = (bytes: number): string => toBytes(bytes).replace(/[.,]0(?= )/, '');

/** Formats a time. An invalid time, for example from the URL, becomes a dash, because Intl would throw. */
const write = (name: keyof typeof times.value, time: Date | number): string =>
  Number.isNaN(Number(time)) ? '–' : times.value[name].format(time);

const ofDay = create((tag) => new Intl.DateTimeFormat(tag, { timeZone: 'UTC', ...clock }));

/** Formats a time of day in the user's format: `02:30` or `2:30 AM`. */
export const toTimeOfDay = (time: string): string => {
  const at = Date.parse(`1970-01-01T${time}Z`);
  return Number.isNaN(at) ? time : ofDay.format(at);
};

export const toClock = (time: Date | number): string => write('clock', time);
export const toShortClock = (time: Date | number): string => write('shortClock', time);
/** Formats the full date and time, with the zone. */
export const toFull = (time: Date | number): string => write('full', time).replace('GMT', 'UTC');
export const toShortDay = (time: Date | number): string => write('day', time);

/** Formats a time for people: only the time if today, day and time if this year, otherwise the date. */
export const toTime = (time: Date | number): string => {
  const [today, date] = [write('date', Date.now()), write('date', time)];
  if (date === today) return toClock(time);
  const isThisYear = date.match(/\d{4}/)?.[0] === today.match(/\d{4}/)?.[0];
  return isThisYear ? `${toShortDay(time)}, ${toClock(time)}` : date;
};

const dayMs = 86_400_000;

/**
 * Formats a planned time to the minute: only the time if today, with the weekday within six days, otherwise the date.
 */
export const toMinute = (time: Date | number): string => {
  const [at, present] = [Number(time), Date.now()];
  const clock = toShortClock(at);
  if (write('date', at) === write('date', present)) return clock;
  if (at > present && at < present + 6 * dayMs) return `${write('weekday', at)} ${clock}`;
  const isThisYear = write('date', at).match(/\d{4}/)?.[0] === write('date', present).match(/\d{4}/)?.[0];
  return `${write(isThisYear ? 'day' : 'date', at)}, ${clock}`;
};

const steps: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
];

/** Formats a relative time from a difference in milliseconds: `3 min. ago`. Past times are negative. */
export const toRelative = (milliseconds: number): string => {
  if (Number.isNaN(milliseconds)) return '–';
  const seconds = Math.round(milliseconds / 1000);
  const [unit, size] = steps.find(([, least]) => Math.abs(seconds) >= least) ?? ['second', 1];
  return relative.format(Math.round(seconds / size), unit);
};

/** Formats a duration from seconds, in the largest units, by default two: `3 days 4 h`, `4 min 5 s`. */
export const toDuration = (total: number, units = 2): string => {
  const days = Math.floor(total / 86_400);
  const parts: [number, string][] = [
    [days, days === 1 ? text.units.day : text.units.days],
    [Math.floor(total / 3600) % 24, text.units.hour],
    [Math.floor(total / 60) % 60, text.units.minute],
    [Math.floor(total) % 60, text.units.second],
  ];
  const first = parts.findIndex(([value]) => value > 0);
  const shown = first < 0 ? parts.slice(-1) : parts.slice(first, first + units).filter(([value]) => value > 0);
  return shown.map(([value, unit]) => `${whole.format(value)} ${unit}`).join(' ');
};

/** Returns the seconds of a .NET time span: `1.02:03:04.0000000` is 93784. */
export const toSeconds = (span: string): number => {
  const [, days = '0', hours, minutes, seconds] = /^(?:(\d+)\.)?(\d+):(\d+):(\d+)/.exec(span) ?? [];
  return ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds);
};
