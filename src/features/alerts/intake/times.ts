import { isCalendarDay } from '../../../lib/time-zone.ts';

const time = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d(?:\.\d+)?)([Zz]|[+-]\d\d:?\d\d)?$/;

/**
 * Converts a time to RFC 3339 in UTC. A time without an offset is assumed to be in UTC. Undefined if the time is
 * invalid or before year 2.
 */
export const toRfc3339 = (value: unknown): string | undefined => {
  const parts = typeof value === 'string' ? time.exec(value) : null;
  if (!parts) return undefined;
  const [, day = '', clock, offset = 'Z'] = parts;
  if (!isCalendarDay(day)) return undefined;
  return formatTime(new Date(`${day}T${clock}${offset.toUpperCase()}`));
};

const yearTwo = Date.parse('0002-01-01T00:00:00Z');
const yearTenThousand = Date.parse('+010000-01-01T00:00:00Z');

/** Formats a date as RFC 3339 in UTC. Undefined for an invalid date or a year outside 2 to 9999. */
export const formatTime = (date: Date): string | undefined =>
  date.getTime() >= yearTwo && date.getTime() < yearTenThousand ? date.toISOString() : undefined;
