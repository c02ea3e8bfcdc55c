import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { isObject, parseJson } from '../../lib/parse-json.ts';

/** Length of the `crc` field with which every line of this log ends, including the closing brace. */
const crcFieldBytes = ',"crc":"00000000"}'.length;

/** Maximum number of characters that `toRecordLine` adds to a line: seq, crc and newline. */
export const lineEndBytes = ',"seq":9007199254740991'.length + crcFieldBytes + 1;

export type LogRecord = Record<string, unknown>;

/** Record of this log, with its id and seq. */
export type StoredRecord = LogRecord & { id: string; seq: number };

/** Position of a line in a group. The log contains either all lines of a group or none of them. */
export interface GroupPart {
  /** Position, counted from 1. */
  index: number;
  count: number;
}

/**
 * Returns the start of a line: the record as JSON, its id and its group part. The seq is assigned only when the line is
 * written.
 */
export const toLineStart = (
  record: LogRecord,
  id: string,
  part?: GroupPart,
  toJson: (record: LogRecord) => string = JSON.stringify,
): string => {
  const fields = toJson(record).slice(0, -1);
  const place = part ? `,"part":"${part.index}/${part.count}"` : '';
  return `${fields}${fields === '{' ? '' : ','}"id":"${id}"${place}`;
};

/** Returns the complete line. Its CRC-32 covers every byte before the `crc` field. */
export const toRecordLine = (start: string, seq: number): string => close(`${start},"seq":${seq}`);

/** Returns a line without a record. It preserves the last seq after retention has removed every record. */
export const toMark = (seq: number): string => close(`{"seq":${seq}`);

const close = (body: string): string => `${body},"crc":"${crc32(body).toString(16).padStart(8, '0')}"}\n`;

let last = { time: Number.NaN, text: '' };

/** Returns a new UUIDv7. It consists of the time in Unix milliseconds and random bits. */
export const createId = (time = Date.now()): string => {
  if (time !== last.time) {
    const hex = time.toString(16).padStart(12, '0');
    last = { time, text: `${hex.slice(0, 8)}-${hex.slice(8)}-7` };
  }
  return last.text + randomUUID().slice(15);
};

/** Returns a UUIDv7 that consists of a time in Unix milliseconds and the hex digits of a hash. */
export const createIdOf = (time: number, hash: string): string => {
  const hex = Math.max(0, time).toString(16).padStart(12, '0').slice(-12);
  const variant = ((Number.parseInt(hash.charAt(3), 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7${hash.slice(0, 3)}-${variant}${hash.slice(4, 7)}-${hash.slice(7, 19)}`;
};

/** Returns the time encoded in an id. Undefined for ids from versions before 0.2. */
export const readIdTime = (id: string): number | undefined =>
  id[14] === '7' ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : undefined;

const crcField = /^,"crc":"([0-9a-f]{8})"\}$/;
const partField = /,"part":"(\d+)\/(\d+)","seq":\d+,"crc":"[0-9a-f]{8}"\}$/;
/** Maximum length of the end of a line, from the group part onwards. */
const partEndBytes = lineEndBytes + 64;
const markStart = Buffer.from('{"seq":');
const featureEventStart = Buffer.from('{"feature":"');
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);
const carriageReturn = 0x0d;
const quote = 0x22;

/**
 * `own`: a record of this log, with the right checksum. `foreign`: a record written by hand or by another program.
 * `mark`: only a seq. `blank`: only white space.
 */
type LineKind = 'own' | 'foreign' | 'mark' | 'blank' | 'damaged';

/** Condition that a field has exactly this text. */
export interface Match {
  field: string;
  value: string;
}

/** Condition on a text field. */
export interface FieldTest {
  field: string;
  accepts(text: string): boolean;
}

/**
 * Classifies a line without its newline. Undefined stands for an overlong line. A line without a `seq` needs no `crc`.
 * With a `seq`, its `crc` must match. Only foreign lines are parsed as JSON, because a matching checksum proves that a
 * line is valid.
 */
export const classifyLine = (line: Buffer | undefined): LineKind =>
  line === undefined ? 'damaged' : classifyText(trim(line));

const classifyText = (text: Buffer): LineKind => {
  if (text.length === 0) return 'blank';
  const crc = readCrc(text);
  if (crc === undefined) return isForeign(text) ? 'foreign' : 'damaged';
  if (crc32(text.subarray(0, -crcFieldBytes)) !== crc) return 'damaged';
  return startsWith(text, markStart) ? 'mark' : 'own';
};

/**
 * True for an event of a feature, such as an acknowledgement in the log of alerts. Lists and searches skip such events,
 * but readers after a seq get them.
 */
export const isFeatureEvent = (record: LogRecord): boolean => record['feature'] !== undefined;

/** True for the line of a feature event. Such a line begins with the member `feature`. */
export const isFeatureEventLine = (line: Buffer): boolean => startsWith(line, featureEventStart);

/** Compares bytes one by one, because lines are many, and a part of a buffer is a new object. */
const startsWith = (bytes: Buffer, start: Buffer): boolean => start.every((byte, at) => bytes[at] === byte);

/** Parses an `own` or `foreign` line, or a `mark`. Throws if the line has changed since it was classified. */
export const parseRecord = (line: Buffer): LogRecord => parseText(trim(line));

const parseText = (text: Buffer): LogRecord => JSON.parse(text.toString('utf8'));

/** Returns the record in an `own` line. Undefined for any other line. */
export const parseStored = (line: Buffer | undefined): StoredRecord | undefined => {
  const text = line && trim(line);
  if (text === undefined || classifyText(text) !== 'own') return undefined;
  const record = parseText(text);
  return typeof record['id'] === 'string' && typeof record['seq'] === 'number' ? (record as StoredRecord) : undefined;
};

/** Returns the group part of an `own` line. Undefined for a record without a group. */
export const readPart = (line: Buffer): GroupPart | undefined => {
  const found = partField.exec(trim(line).subarray(-partEndBytes).toString('latin1'));
  return found ? { index: Number(found[1]), count: Number(found[2]) } : undefined;
};

/** True if the record passes all tests. */
export const passes = (record: LogRecord, tests: readonly FieldTest[]): boolean =>
  tests.every(({ field, accepts }) => {
    const { [field]: text } = record;
    return typeof text === 'string' && accepts(text);
  });

/** Creates a fast test on the bytes of an `own` line. It returns false if the record cannot pass the tests. */
export const createPrefilter = (tests: readonly FieldTest[]): ((line: Buffer) => boolean) => {
  const marks = tests.map(({ field, accepts }) => ({ mark: Buffer.from(`${JSON.stringify(field)}:"`), accepts }));
  return (line) => marks.every(({ mark, accepts }) => hasText(line, mark, accepts));
};

/** True if an accepted text follows the mark. The field may also occur in nested objects. */
const hasText = (line: Buffer, mark: Buffer, accepts: (text: string) => boolean): boolean => {
  for (let at = line.indexOf(mark); at >= 0; at = line.indexOf(mark, at + 1)) {
    const start = at + mark.length;
    const end = line.indexOf(quote, start);
    const text = line.toString('utf8', start, end);
    // Text with escapes is tested after parsing.
    if (text.includes('\\') || accepts(text)) return true;
  }
  return false;
};

/** Creates a test for lines with a matching record. An `own` line is parsed only if its bytes can match. */
export const createMatcher = (match: Match): ((kind: LineKind, line: Buffer) => boolean) => {
  const { field, value } = match;
  const bytes = toBytes(match);
  return (kind, line) => (kind !== 'own' || line.includes(bytes)) && parseRecord(line)[field] === value;
};

const toBytes = ({ field, value }: Match): Buffer => Buffer.from(`${JSON.stringify(field)}:${JSON.stringify(value)}`);

const readCrc = (text: Buffer): number | undefined => {
  const hex = crcField.exec(text.toString('latin1', Math.max(0, text.length - crcFieldBytes)))?.[1];
  return hex === undefined ? undefined : Number.parseInt(hex, 16);
};

/** Removes a byte order mark and a carriage return, because an editor may have added them. */
const trim = (line: Buffer): Buffer => {
  const start = startsWith(line, byteOrderMark) ? byteOrderMark.length : 0;
  const end = line.at(-1) === carriageReturn ? line.length - 1 : line.length;
  const text = start === 0 && end === line.length ? line : line.subarray(start, end);
  return isSpace(text) ? noBytes : text;
};

const noBytes = Buffer.alloc(0);

const isSpace = (bytes: Buffer): boolean => bytes.every((byte) => byte === 0x20 || byte === 0x09);

/** True for a JSON object in UTF-8 without a `seq`. */
const isForeign = (text: Buffer): boolean => {
  const value = isUtf8(text) ? parseJson(text.toString('utf8')) : undefined;
  return isObject(value) && !('seq' in value);
};
