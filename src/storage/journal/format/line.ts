import { isUtf8 } from 'node:buffer';
import { crc32 } from 'node:zlib';

const crcField = /^,"crc":"([0-9a-f]{8})"\}$/;
const crcFieldBytes = ',"crc":"00000000"}'.length;
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);
const carriageReturn = 0x0d;

/** The most that `toLine` adds to the start of a line: seq, crc and the line's end. */
export const lineEndBytes = ',"seq":9007199254740991'.length + crcFieldBytes + 1;

export type LogRecord = Record<string, unknown>;

/** A line without its end: the record as JSON, then its id. The rest is known only when it is written. */
export const toLineStart = (record: LogRecord, id: string): string => {
  const fields = JSON.stringify(record).slice(0, -1);
  return `${fields}${fields === '{' ? '' : ','}"id":"${id}"`;
};

/** A whole line. Its CRC-32 covers every byte before the field `crc`. */
export const toLine = (start: string, seq: number): string => {
  const body = `${start},"seq":${seq}`;
  return `${body},"crc":"${checksum(body)}"}\n`;
};

/**
 * The record in a line of the log, given without its newline; undefined stands for one that is too long. A line
 * that never had a `seq` (written by hand or by another program) needs no `crc`; one that has a `seq` was
 * written here and must fit its `crc`.
 */
export const parseLine = (line: Buffer | undefined): LogRecord | 'blank' | 'damaged' => {
  if (line === undefined) {
    return 'damaged';
  }
  const text = trim(line);
  if (text.length === 0) {
    return 'blank';
  }
  const crc = crcField.exec(text.subarray(-crcFieldBytes).toString('latin1'))?.[1];
  const intact = crc === undefined ? isUtf8(text) : crc === checksum(text.subarray(0, -crcFieldBytes));
  const record = intact ? parseObject(text) : undefined;
  return record === undefined || (crc === undefined && 'seq' in record) ? 'damaged' : record;
};

/** The record in a line that was parsed before; throws where it no longer is one. */
export const parseKnownLine = (line: Buffer): LogRecord => JSON.parse(trim(line).toString('utf8'));

const checksum = (bytes: string | Buffer): string => crc32(bytes).toString(16).padStart(8, '0');

/** Without what an editor may have put around the line. */
const trim = (line: Buffer): Buffer => {
  const start = line.subarray(0, byteOrderMark.length).equals(byteOrderMark) ? byteOrderMark.length : 0;
  const end = line.at(-1) === carriageReturn ? line.length - 1 : line.length;
  return isSpace(line.subarray(start, end)) ? line.subarray(0, 0) : line.subarray(start, end);
};

const isSpace = (bytes: Buffer): boolean => bytes.every((byte) => byte === 0x20 || byte === 0x09);

const parseObject = (text: Buffer): LogRecord | undefined => {
  try {
    const value: unknown = JSON.parse(text.toString('utf8'));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

const isObject = (value: unknown): value is LogRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
