const secondsPerDay = 86_400;

/** Rounds to a number of decimals. */
export const toRounded = (value: number, decimals: number): number => Number(value.toFixed(decimals));

/** Days with one decimal. */
export const toDays = (seconds: number): number => toRounded(seconds / secondsPerDay, 1);

/** A share (0 … 1) as text in percent, e.g. `41.7%`. */
export const toShare = (share: number, decimals: number): string => `${(share * 100).toFixed(decimals)}%`;

/** Milliseconds in .NET's constant time-span format `[d.]hh:mm:ss.fffffff`; nothing below 0. */
export const toTimeSpan = (milliseconds: number): string => {
  const passed = Math.max(0, Math.trunc(milliseconds));
  const seconds = Math.trunc(passed / 1000);
  const days = Math.trunc(seconds / secondsPerDay);
  const [hours, minutes] = [Math.trunc(seconds / 3600) % 24, Math.trunc(seconds / 60) % 60];
  const clock = [hours, minutes, seconds % 60].map((part) => String(part).padStart(2, '0')).join(':');
  // Seven digits, of which milliseconds fill three.
  const fraction = String(passed % 1000)
    .padStart(3, '0')
    .padEnd(7, '0');
  return `${days > 0 ? `${days}.` : ''}${clock}.${fraction}`;
};
