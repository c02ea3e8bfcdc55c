import { HttpError } from '../../../http/response/errors.ts';

/** Later times would have more than four digits in some zones. */
const yearEnd = Date.parse('9999-01-01T00:00:00Z');

const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** A time range; Unix milliseconds. */
export interface TimeRange {
  since: number | undefined;
  until: number | undefined;
}

/** Parses the parameters `since` and `until`; throws an HttpError that names the one that is wrong. */
export const parseRange = (query: { since?: string; until?: string }): TimeRange => {
  const since = parseTime('since', query.since);
  const until = parseTime('until', query.until);
  if (since !== undefined && until !== undefined && since >= until) {
    throw new HttpError('invalid', 'since must be before until');
  }
  return { since, until };
};

const parseTime = (name: string, given: string | undefined): number | undefined => {
  if (given === undefined) return undefined;
  // A plus sign that was not encoded arrives as a space.
  const text = given.replace(/ (?=\d\d:\d\d$)/, '+');
  const [, year, month, day] = rfc3339.exec(text) ?? [];
  const time = Date.parse(text.replace(' ', 'T').toUpperCase());
  // Date.parse takes the 30th of February for the 2nd of March.
  const isDay = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day);
  const isOutside = time < 0 || time >= yearEnd;
  if (year === undefined || !isDay || Number.isNaN(time) || isOutside) {
    throw new HttpError(
      'invalid',
      `${name} must be a time as in RFC 3339 with its offset, such as 2026-01-31T09:30:00Z`,
    );
  }
  return time;
};
