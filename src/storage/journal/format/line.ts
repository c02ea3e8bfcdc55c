import { crc32 } from 'node:zlib';

/** The field that ends each line written here, with its value in quotes and the closing brace. */
export const crcFieldBytes = ',"crc":"00000000"}'.length;

/** The most that `toLine` adds to the start of a line: seq, crc and the newline. */
export const lineEndBytes = ',"seq":9007199254740991'.length + crcFieldBytes + 1;

export type LogRecord = Record<string, unknown>;

/** The start of a line: the record as JSON, then the id. The rest is known only when the line is written. */
export const toLineStart = (record: LogRecord, id: string): string => {
  const fields = JSON.stringify(record).slice(0, -1);
  return `${fields}${fields === '{' ? '' : ','}"id":"${id}"`;
};

/** A whole line. Its CRC-32 covers every byte before the field `crc`. */
export const toLine = (start: string, seq: number): string => close(`${start},"seq":${seq}`);

/** A line without a record, which keeps the last seq if retention has removed every record. */
export const toMark = (seq: number): string => close(`{"seq":${seq}`);

const close = (body: string): string => `${body},"crc":"${crc32(body).toString(16).padStart(8, '0')}"}\n`;
