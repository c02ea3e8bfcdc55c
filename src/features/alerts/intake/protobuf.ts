import { BinaryReader, BinaryWriter, type WireType } from '@bufbuild/protobuf/wire';
import { HttpError } from '../../../http/errors.ts';

/** Values of a message, and how deep they may be nested: a message of two bytes takes a hundred times that in memory. */
const mostValues = 1_000_000;
const deepest = 64;

/** Types of values that are read; their JSON form is that of the Protobuf JSON mapping. */
type Scalar = 'string' | 'bool' | 'int32' | 'int64' | 'fixed64' | 'double' | 'bytes';

interface Field {
  name: string;
  type: Scalar | (() => MessageFields);
  isList?: true;
}

/** Fields by number; others are skipped. */
export type MessageFields = Readonly<Record<number, Field>>;

const [varint, bit64, lengthDelimited] = [0, 1, 2] as WireType[];

const wireTypes: Record<Scalar, WireType | undefined> = {
  string: lengthDelimited,
  bytes: lengthDelimited,
  bool: varint,
  int32: varint,
  int64: varint,
  fixed64: bit64,
  double: bit64,
};

const scalars: Record<Scalar, (reader: BinaryReader) => unknown> = {
  string: (reader) => reader.string(),
  bool: (reader) => reader.bool(),
  int32: (reader) => reader.int32(),
  int64: (reader) => String(reader.int64()),
  fixed64: (reader) => String(reader.fixed64()),
  double: (reader) => {
    const value = reader.double();
    return Number.isFinite(value) ? value : String(value);
  },
  bytes: (reader) => Buffer.from(reader.bytes()).toString('base64'),
};

/** Reads a message as the value that it is in JSON. Throws an HttpError for bytes that are none. */
export const readProtobuf = (message: MessageFields, bytes: Buffer): Record<string, unknown> => {
  let values = 0;
  const readFields = (reader: BinaryReader, fields: MessageFields, depth: number): Record<string, unknown> => {
    if (depth > deepest) throw new HttpError('invalid', `Request body is nested deeper than ${deepest} messages`);
    const found: Record<string, unknown> = {};
    while (reader.pos < reader.len) {
      values += 1;
      if (values > mostValues) throw new HttpError('too-large', `Request body has more than ${mostValues} values`);
      const [number, wireType] = reader.tag();
      const field = fields[number];
      if (!field) {
        reader.skip(wireType, number);
        continue;
      }
      const { name, type, isList } = field;
      const expected = typeof type === 'string' ? wireTypes[type] : lengthDelimited;
      if (wireType !== expected) throw new Error(`${name} has another type`);
      const value =
        typeof type === 'string'
          ? scalars[type](reader)
          : readFields(new BinaryReader(reader.bytes()), type(), depth + 1);
      const list = found[name] as unknown[] | undefined;
      if (!isList) found[name] = value;
      else if (list) list.push(value);
      else found[name] = [value];
    }
    return found;
  };
  try {
    return readFields(new BinaryReader(bytes), message, 0);
  } catch (error) {
    if (error instanceof HttpError) throw error;
    throw new HttpError('invalid', 'Request body is not valid Protobuf of this format');
  }
};

/** A `google.rpc.Status` with its message alone: OTLP leaves the code to the status of the response. */
export const writeStatus = (message: string): Buffer =>
  Buffer.from(
    new BinaryWriter()
      .tag(2, lengthDelimited as WireType)
      .string(message)
      .finish(),
  );

/** An `ExportLogsServiceResponse`, which is empty if all records were accepted. */
export const writeLogsResponse = ({ rejectedLogRecords, errorMessage }: PartialSuccess): Buffer => {
  const writer = new BinaryWriter();
  if (rejectedLogRecords !== undefined && errorMessage !== undefined) {
    writer.tag(1, lengthDelimited as WireType).fork();
    writer.tag(1, varint as WireType).int64(rejectedLogRecords);
    writer.tag(2, lengthDelimited as WireType).string(errorMessage);
    writer.join();
  }
  return Buffer.from(writer.finish());
};

export interface PartialSuccess {
  /** A 64-bit integer is a string in JSON. */
  rejectedLogRecords?: string;
  errorMessage?: string;
}
