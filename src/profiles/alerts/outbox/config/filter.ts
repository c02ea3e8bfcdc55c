import type { StoredRecord } from '../../../../storage/journal/read/forward.ts';
import { formatOf } from '../alert.ts';
import { readVia } from '../via.ts';

interface Filter {
  levels?: string[];
  sources?: string[];
  formats?: string[];
}

/** Whether a destination gets the alert of a record. */
export type Accepts = (record: StoredRecord) => boolean;

/**
 * Accepts what the filter names, except alerts that `instance` has delivered before, which would go round in circles, and
 * those that were imported, which are old.
 */
export const createFilter = ({ levels, sources, formats }: Filter, instance: string): Accepts => {
  const names = levels?.map((level) => level.toUpperCase());
  return (record) =>
    record['imported'] !== true &&
    !readVia(record['via']).includes(instance) &&
    (names === undefined || names.includes(String(record['level']).toUpperCase())) &&
    (sources === undefined || sources.some((pattern) => isLike(String(record['source']), pattern))) &&
    (formats === undefined || formats.includes(formatOf(record)));
};

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
