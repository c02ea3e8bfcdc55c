import { JournalError } from '../errors.ts';
import { createId } from '../format/id.ts';
import { type LogRecord, lineEndBytes, toLineStart } from '../format/line.ts';
import { maxGroupBytes } from '../options.ts';
import { type Appended, countBytes } from './queue.ts';
import type { Writer } from './writer.ts';

/** Stores the record, or its JSON, as one line, with a new id by default. */
export const appendRecord = (
  writer: Writer,
  record: LogRecord | string,
  maxLineBytes: number,
  id = createId(),
): Promise<Appended> => {
  const start = toLineStart(record, id);
  if (isTooLong(start, maxLineBytes)) return Promise.reject(createLineError(maxLineBytes));
  return writer.append([start], (seq) => ({ id, seq }));
};

/** Stores the records as lines of which all are in the log or none; one record is a line like any other. */
export const appendGroup = (
  writer: Writer,
  records: readonly LogRecord[],
  maxLineBytes: number,
): Promise<Appended[]> => {
  if (records.length === 0) return Promise.resolve([]);
  const ids = records.map(() => createId());
  const starts = records.map((record, index) => toLineStart(record, ids[index] ?? '', toPart(index, records.length)));
  if (starts.some((start) => isTooLong(start, maxLineBytes))) return Promise.reject(createLineError(maxLineBytes));
  if (countBytes(starts) > maxGroupBytes) {
    const message = `the lines of records that are stored together are at most ${maxGroupBytes} bytes`;
    return Promise.reject(new JournalError('too-large', message));
  }
  return writer.append(starts, (seq) => ids.map((id, index) => ({ id, seq: seq + index })));
};

const toPart = (index: number, count: number) => (count > 1 ? { index: index + 1, count } : undefined);

const isTooLong = (start: string, maxBytes: number): boolean => Buffer.byteLength(start) + lineEndBytes > maxBytes;

const createLineError = (maxBytes: number): JournalError =>
  new JournalError('too-large', `a record's line is at most ${maxBytes} bytes`);
