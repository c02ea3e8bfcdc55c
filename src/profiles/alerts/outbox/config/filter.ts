import type { StoredRecord } from '../../../../storage/journal/read/forward.ts';
import { type Severity, toSeverity } from '../../../severity.ts';
import { formatOf } from '../alert.ts';
import { isNoticeOf } from '../notices.ts';
import { readVia } from '../via.ts';

interface Filter {
  name: string;
  levels?: string[];
  sources?: string[];
  formats?: string[];
}

/** Whether a destination gets the alert of a record. */
export type Accepts = (record: StoredRecord) => boolean;

/**
 * Accepts what the filter names, except alerts that `instance` has delivered before, which would go round in circles, those
 * that were imported, which are old, and those about the destination itself.
 */
export const createFilter = ({ name, levels, sources, formats }: Filter, instance: string): Accepts => {
  const wanted = levels?.map((level) => toSeverity(level));
  return (record) =>
    record['imported'] !== true &&
    !readVia(record['via']).includes(instance) &&
    !isNoticeOf(record, instance, name) &&
    (wanted === undefined || wanted.includes(severityOf(record))) &&
    (sources === undefined || sources.some((pattern) => isLike(String(record['source']), pattern))) &&
    (formats === undefined || formats.includes(formatOf(record)));
};

/** A resolved alert goes where the firing one went, which may have been more severe. */
const severityOf = ({ level, status, firingLevel }: StoredRecord): Severity =>
  toSeverity(String(status === 'resolved' && typeof firingLevel === 'string' ? firingLevel : level));

/** Whether the text is the pattern, in which each `*` stands for any text. */
export const isLike = (text: string, pattern: string): boolean => {
  const [start = '', ...parts] = pattern.split('*');
  const end = parts.pop();
  if (end === undefined) return text === pattern;
  if (!text.startsWith(start)) return false;
  let at = start.length;
  for (const part of parts) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - end.length >= at && text.endsWith(end);
};
