import { fromTyped } from '../zone.ts';

/** Month such as `2026-11`. */
export type Month = string;

const monthPattern = /^(20\d\d)-(0[1-9]|1[0-2])$/;

/** Returns the month in the URL if it is valid. Otherwise, returns the month of `now`, such as `2026-11-29T10:00`. */
export const readMonth = (written: string | undefined, now: string): Month =>
  written !== undefined && monthPattern.test(written) ? written : now.slice(0, 7);

/** Returns the month `count` months later. */
export const addMonths = (month: Month, count: number): Month => {
  const date = new Date(`${month}-01T00:00:00Z`);
  date.setUTCMonth(date.getUTCMonth() + count);
  return date.toISOString().slice(0, 7);
};

/** Returns the start of the month in the displayed zone, in milliseconds. */
export const startOfMonth = (month: Month): number => fromTyped(`${month}-01T00:00`);

/** Formats the month, such as `November 2026`. */
export const toMonthName = (month: Month): string =>
  new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(new Date(`${month}-01`));
