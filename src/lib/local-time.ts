const toDigits = (value: number, length = 2): string => String(value).padStart(length, '0');

/** Cached strings for the last second, because thousands of records share them. */
let last = { second: Number.NaN, timestamp: '', time: '', offset: '' };

/** Formats a time as `yyyy-MM-ddTHH:mm:ss` in the local time of the machine, without a zone. */
export const toLocalTimestamp = (date: Date): string => toTexts(date).timestamp;

/** Formats a time as `HH:mm:ss` in the local time of the machine. */
export const toLocalTime = (date: Date): string => toTexts(date).time;

/** Formats local time as in RFC 3339, with milliseconds and its offset from UTC: `2026-01-31T09:30:00.123+01:00`. */
export const toOffsetTimestamp = (date: Date): string => {
  const { timestamp, offset } = toTexts(date);
  return `${timestamp}.${toDigits(date.getMilliseconds(), 3)}${offset}`;
};

/** Formats local time for people, to the minute, with the offset: `2026-01-31 09:30 +01:00`. */
export const toLocalMinute = (ms: number): string => toWords(ms, 16);

/** Formats local time for people, to the second. */
export const toLocalSecond = (ms: number): string => toWords(ms, 19);

/** Formats a local day for people: `2026-01-31`. */
export const toLocalDay = (ms: number): string => toLocalTimestamp(new Date(ms)).slice(0, 10);

const toWords = (ms: number, length: number): string => {
  const { timestamp, offset } = toTexts(new Date(ms));
  return `${timestamp.slice(0, length).replace('T', ' ')} ${offset}`;
};

const toTexts = (date: Date): typeof last => {
  const second = Math.floor(date.getTime() / 1000);
  if (second !== last.second) {
    const day = `${date.getFullYear()}-${toDigits(date.getMonth() + 1)}-${toDigits(date.getDate())}`;
    const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => toDigits(part)).join(':');
    last = { second, timestamp: `${day}T${time}`, time, offset: toOffset(date) };
  }
  return last;
};

/** Returns the offset of local time from UTC, e.g. `+05:30`. */
const toOffset = (date: Date): string => {
  const minutes = -date.getTimezoneOffset();
  const absolute = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${toDigits(Math.floor(absolute / 60))}:${toDigits(absolute % 60)}`;
};
