import { randomUUID } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** The field that ends each line written here, with its value in quotes and the closing brace. */
export const crcFieldBytes = ',"crc":"00000000"}'.length;

/** The most that `toLine` adds to the start of a line: seq, crc and the newline. */
export const lineEndBytes = ',"seq":9007199254740991'.length + crcFieldBytes + 1;

export type LogRecord = Record<string, unknown>;

/** Which line of a group this is, from 1, and of how many. A group is in the log whole or not at all. */
export interface Part {
  index: number;
  count: number;
}

/**
 * A line up to its id and its part of a group: the record as JSON (a string is that already), then both. The rest is known only when it is written.
 */
export const toLineStart = (record: LogRecord | string, id: string, part?: Part): string => {
  const fields = (typeof record === 'string' ? record : JSON.stringify(record)).slice(0, -1);
  const place = part ? `,"part":"${part.index}/${part.count}"` : '';
  return `${fields}${fields === '{' ? '' : ','}"id":"${id}"${place}`;
};

/** A whole line. Its CRC-32 covers every byte before the field `crc`. */
export const toLine = (start: string, seq: number): string => close(`${start},"seq":${seq}`);

/** A line without a record, which keeps the last seq if retention has removed every record. */
export const toMark = (seq: number): string => close(`{"seq":${seq}`);

const close = (body: string): string => `${body},"crc":"${crc32(body).toString(16).padStart(8, '0')}"}\n`;

let last = { time: Number.NaN, text: '' };

/** A new UUIDv7: it begins with the time in Unix milliseconds, the rest is random. */
export const createId = (time = Date.now()): string => {
  if (time !== last.time) {
    const hex = time.toString(16).padStart(12, '0');
    last = { time, text: `${hex.slice(0, 8)}-${hex.slice(8)}-7` };
  }
  return last.text + randomUUID().slice(15);
};

/** The UUIDv7 of a time in Unix milliseconds whose other digits are those of a hash, in hex. */
export const createIdOf = (time: number, hash: string): string => {
  const hex = Math.max(0, time).toString(16).padStart(12, '0').slice(-12);
  const variant = ((Number.parseInt(hash.charAt(3), 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7${hash.slice(0, 3)}-${variant}${hash.slice(4, 7)}-${hash.slice(7, 19)}`;
};

/** The time in an id; undefined where it has none, as those of versions before 0.2. */
export const readIdTime = (id: string): number | undefined =>
  id[14] === '7' ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : undefined;
