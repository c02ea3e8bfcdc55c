const pad = (value: number): string => String(value).padStart(2, '0');

/** Texts of one second: made anew for each of the thousands of records that have it they would take 1 µs each. */
let last = { second: Number.NaN, timestamp: '', time: '' };

/** `yyyy-MM-ddTHH:mm:ss` in the machine's local time, without a zone. */
export const toLocalTimestamp = (date: Date): string => toTexts(date).timestamp;

/** `HH:mm:ss` in the machine's local time. */
export const toLocalTime = (date: Date): string => toTexts(date).time;

const toTexts = (date: Date): typeof last => {
  const second = Math.floor(date.getTime() / 1000);
  if (second !== last.second) {
    const day = `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
    const time = `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`;
    last = { second, timestamp: `${day}T${time}`, time };
  }
  return last;
};
