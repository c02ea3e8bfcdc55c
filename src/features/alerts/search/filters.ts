import { HttpError } from '../../../http/errors.ts';
import { requireTime } from '../../../http/text-forms.ts';
import { findSeverity, severities, toSeverity } from '../../../kit/severity.ts';
import { createFilterTest } from '../../../lib/wildcards.ts';
import type { FieldTest, LogRecord } from '../../../storage/journal/line.ts';
import type { HistogramQuery } from '../schema.ts';

/** Parameters that select alerts in searches and histograms. */
export type AlertFilters = Omit<HistogramQuery, 'buckets'>;

/** Returns tests for single fields. Throws an HttpError for an unknown severity. */
export const toFieldTests = ({ level, severity, source, hostname, status }: AlertFilters): FieldTest[] => [
  ...Object.entries({ level, source, hostname, status }).flatMap(([field, value]) =>
    value === undefined ? [] : [{ field, accepts: createFilterTest(value) }],
  ),
  ...(severity === undefined ? [] : [{ field: 'level', accepts: createSeverityTest(severity) }]),
];

/** Creates a case-insensitive test for text in the message of a record. Without text, every record passes. */
export const createTextTest = (wanted: string | undefined): ((record: LogRecord) => boolean) => {
  if (wanted === undefined) return () => true;
  const lower = wanted.toLowerCase();
  return ({ message }) =>
    String(message ?? '')
      .toLowerCase()
      .includes(lower);
};

/** Creates a test for levels of the named severity. Throws an HttpError for an unknown name. */
export const createSeverityTest = (name: string): ((level: string) => boolean) => {
  const wanted = findSeverity(name);
  if (wanted) return (level) => toSeverity(level) === wanted;
  const names = severities.join(', ');
  throw new HttpError('invalid', `severity must be one of ${names}, or a synonym such as err or warn`);
};

/** Returns `since` and `until` in Unix milliseconds. Throws an HttpError that names the faulty parameter. */
export const parseRange = ({ since: from, until: to }: AlertFilters) => {
  const since = from === undefined ? undefined : requireTime('since', from);
  const until = to === undefined ? undefined : requireTime('until', to);
  if (since !== undefined && until !== undefined && since >= until) {
    throw new HttpError('invalid', 'since must be before until');
  }
  return { since, until };
};
