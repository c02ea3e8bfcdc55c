import { BinaryReader, type WireType } from '@bufbuild/protobuf/wire';
import { HttpError } from '../../../http/errors.ts';

/**
 * Maximum number of values in a message, and maximum depth. Limits are needed because a two-byte message takes two
 * hundred bytes of memory.
 */
const maxValues = 1_000_000;
const maxDepth = 64;

/** Types of values. Values are read as in the Protobuf JSON mapping. */
type Scalar = 'string' | 'bool' | 'int32' | 'int64' | 'fixed64' | 'double' | 'bytes';

interface Field {
  name: string;
  type: Scalar | (() => ProtobufFields);
  isList?: true;
}

/** Fields by number. Other fields are skipped. */
export type ProtobufFields = Readonly<Record<number, Field>>;

/** Protobuf wire types. */
export const varint: WireType = 0;
const bit64: WireType = 1;
export const lengthDelimited: WireType = 2;

const wireTypes: Record<Scalar, WireType> = {
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

/** Parses a message as in the Protobuf JSON mapping. Throws an HttpError for invalid bytes. */
export const readProtobuf = (message: ProtobufFields, bytes: Buffer): Record<string, unknown> => {
  let values = 0;
  const readFields = (reader: BinaryReader, fields: ProtobufFields, depth: number): Record<string, unknown> => {
    if (depth > maxDepth) throw new HttpError('invalid', `Request body is nested deeper than ${maxDepth} messages`);
    const found: Record<string, unknown> = {};
    while (reader.pos < reader.len) {
      values += 1;
      if (values > maxValues) throw new HttpError('too-large', `Request body has more than ${maxValues} values`);
      const [number, wireType] = reader.tag();
      const field = fields[number];
      if (!field) {
        reader.skip(wireType, number);
        continue;
      }
      const { name, type, isList } = field;
      const expected = typeof type === 'string' ? wireTypes[type] : lengthDelimited;
      if (wireType !== expected) throw new Error(`${name} has a wrong wire type`);
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
