import { HttpError } from '../../../http/errors.ts';
import { parseTime } from '../../../http/request-headers.ts';

/** A time range; Unix milliseconds. */
export interface TimeRange {
  since: number | undefined;
  until: number | undefined;
}

/** Parses the parameters `since` and `until`; throws an HttpError that names the one that is wrong. */
export const parseRange = (query: { since?: string; until?: string }): TimeRange => {
  const since = readBound('since', query.since);
  const until = readBound('until', query.until);
  if (since !== undefined && until !== undefined && since >= until) {
    throw new HttpError('invalid', 'since must be before until');
  }
  return { since, until };
};

const readBound = (name: string, text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  const time = parseTime(text);
  if (Number.isNaN(time)) {
    throw new HttpError(
      'invalid',
      `${name} must be a time as in RFC 3339 with its offset, such as 2026-01-31T09:30:00Z`,
    );
  }
  return time;
};
