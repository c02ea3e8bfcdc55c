import { isUtf8 } from 'node:buffer';
import { crc32 } from 'node:zlib';
import { crcFieldBytes, type LogRecord, lineEndBytes, type Part } from './line.ts';

const crcField = /^,"crc":"([0-9a-f]{8})"\}$/;
const partField = /,"part":"(\d+)\/(\d+)","seq":\d+,"crc":"[0-9a-f]{8}"\}$/;
/** More than the end of a line from its part on takes. */
const partEndBytes = lineEndBytes + 64;
const markStart = Buffer.from('{"seq":');
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);
const carriageReturn = 0x0d;
const quote = 0x22;

/**
 * `own`: a record written here, whose checksum fits. `foreign`: a record written by hand or by another program.
 * `mark`: only a seq. `blank`: nothing but white space.
 */
export type LineKind = 'own' | 'foreign' | 'mark' | 'blank' | 'damaged';

/** A field that has exactly this text. */
export interface Match {
  field: string;
  value: string;
}

/** A field whose text is accepted; one that is no text is not. */
export interface FieldTest {
  field: string;
  accepts(text: string): boolean;
}

/**
 * Classifies a line without its newline; undefined stands for one that is too long. A line without a `seq` needs no
 * `crc`; one with a `seq` was written here and must match its `crc`. Only foreign lines are parsed as JSON: a line that
 * matches its checksum is known to be valid.
 */
export const classifyLine = (line: Buffer | undefined): LineKind => {
  if (line === undefined) return 'damaged';
  const text = trim(line);
  if (text.length === 0) return 'blank';
  const crc = readCrc(text);
  if (crc === undefined) return isForeign(text) ? 'foreign' : 'damaged';
  if (crc32(text.subarray(0, -crcFieldBytes)) !== crc) return 'damaged';
  return text.subarray(0, markStart.length).equals(markStart) ? 'mark' : 'own';
};

/** The record in a line that is `own`, `foreign` or a `mark`; throws if the line has changed meanwhile. */
export const parseRecord = (line: Buffer): LogRecord => JSON.parse(trim(line).toString('utf8'));

/** Which part of a group an own line is; undefined where it stands alone. */
export const readPart = (line: Buffer): Part | undefined => {
  const found = partField.exec(trim(line).subarray(-partEndBytes).toString('latin1'));
  return found ? { index: Number(found[1]), count: Number(found[2]) } : undefined;
};

/** Whether the record passes all tests. */
export const passes = (record: LogRecord, tests: readonly FieldTest[]): boolean =>
  tests.every(({ field, accepts }) => {
    const { [field]: text } = record;
    return typeof text === 'string' && accepts(text);
  });

/** Whether the bytes of an own line can be those of a record that passes all tests, which is seen without parsing it. */
export const createPrefilter = (tests: readonly FieldTest[]): ((line: Buffer) => boolean) => {
  const marks = tests.map(({ field, accepts }) => ({ mark: Buffer.from(`${JSON.stringify(field)}:"`), accepts }));
  return (line) => marks.every(({ mark, accepts }) => hasText(line, mark, accepts));
};

/** Whether some text after the mark is accepted; objects in the record may have the field, too. */
const hasText = (line: Buffer, mark: Buffer, accepts: (text: string) => boolean): boolean => {
  for (let at = line.indexOf(mark); at >= 0; at = line.indexOf(mark, at + 1)) {
    const start = at + mark.length;
    const end = line.indexOf(quote, start);
    const text = line.toString('utf8', start, end);
    // A text with escapes is read when the line is parsed.
    if (text.includes('\\') || accepts(text)) return true;
  }
  return false;
};

/** Whether the record of a line of this kind matches. Own lines are parsed only if their bytes can match. */
export const createMatcher = (match: Match): ((kind: LineKind, line: Buffer) => boolean) => {
  const { field, value } = match;
  const bytes = toBytes(match);
  return (kind, line) => (kind !== 'own' || line.includes(bytes)) && parseRecord(line)[field] === value;
};

const toBytes = ({ field, value }: Match): Buffer => Buffer.from(`${JSON.stringify(field)}:${JSON.stringify(value)}`);

const readCrc = (text: Buffer): number | undefined => {
  const hex = crcField.exec(text.subarray(-crcFieldBytes).toString('latin1'))?.[1];
  return hex === undefined ? undefined : Number.parseInt(hex, 16);
};

/** Removes a byte order mark and a carriage return, which an editor may have added. */
const trim = (line: Buffer): Buffer => {
  const start = line.subarray(0, byteOrderMark.length).equals(byteOrderMark) ? byteOrderMark.length : 0;
  const end = line.at(-1) === carriageReturn ? line.length - 1 : line.length;
  return isSpace(line.subarray(start, end)) ? line.subarray(0, 0) : line.subarray(start, end);
};

const isSpace = (bytes: Buffer): boolean => bytes.every((byte) => byte === 0x20 || byte === 0x09);

/** A JSON object in UTF-8 without a `seq`. */
const isForeign = (text: Buffer): boolean => {
  try {
    const value: unknown = isUtf8(text) ? JSON.parse(text.toString('utf8')) : undefined;
    return typeof value === 'object' && value !== null && !Array.isArray(value) && !('seq' in value);
  } catch {
    return false;
  }
};
