import { toFlag, UsageError } from '../args.ts';

/** The longest time that timers can wait is 24 days. */
const mostSeconds = 2_000_000;

/** Milliseconds of the flag's value in seconds. Throws a UsageError. */
export const toMilliseconds = (key: string, text: string): number => {
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (seconds <= mostSeconds) return seconds * 1000;
  throw new UsageError(`${toFlag(key)} must be seconds from 0 to ${mostSeconds}, not ${JSON.stringify(text)}`);
};
