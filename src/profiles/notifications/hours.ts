import type { UsableHours } from './plan.ts';

/** Reads times of the week, in `timeZone` if the text names no zone. Throws an Error whose message says what is wrong. */
export const parseHours = (text: string, timeZone: string): UsableHours => {
  throw new Error(`hours cannot be used yet: ${text} (${timeZone})`);
};
