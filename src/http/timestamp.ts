const pad = (value: number): string => String(value).padStart(2, '0');

/** `yyyy-MM-ddTHH:mm:ss` in the machine's local time, without a zone. */
export const toLocalTimestamp = (date: Date): string =>
  `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}T${toLocalTime(date)}`;

/** `HH:mm:ss` in the machine's local time. */
export const toLocalTime = (date: Date): string =>
  `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`;
