import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { lengthDelimited, type ProtobufFields, varint } from '../protobuf.ts';

/** Fields of OpenTelemetry's `opentelemetry/proto/{common,resource,logs}/v1` that are used in alerts. */
const anyValue: ProtobufFields = {
  1: { name: 'stringValue', type: 'string' },
  2: { name: 'boolValue', type: 'bool' },
  3: { name: 'intValue', type: 'int64' },
  4: { name: 'doubleValue', type: 'double' },
  5: { name: 'arrayValue', type: () => arrayValue },
  6: { name: 'kvlistValue', type: () => keyValueList },
  7: { name: 'bytesValue', type: 'bytes' },
};

const arrayValue: ProtobufFields = { 1: { name: 'values', type: () => anyValue, isList: true } };

const keyValue: ProtobufFields = {
  1: { name: 'key', type: 'string' },
  2: { name: 'value', type: () => anyValue },
};

const keyValueList: ProtobufFields = { 1: { name: 'values', type: () => keyValue, isList: true } };

const resource: ProtobufFields = { 1: { name: 'attributes', type: () => keyValue, isList: true } };

const scope: ProtobufFields = { 1: { name: 'name', type: 'string' } };

const logRecord: ProtobufFields = {
  1: { name: 'timeUnixNano', type: 'fixed64' },
  2: { name: 'severityNumber', type: 'int32' },
  3: { name: 'severityText', type: 'string' },
  5: { name: 'body', type: () => anyValue },
  6: { name: 'attributes', type: () => keyValue, isList: true },
  11: { name: 'observedTimeUnixNano', type: 'fixed64' },
  12: { name: 'eventName', type: 'string' },
};

const scopeLogs: ProtobufFields = {
  1: { name: 'scope', type: () => scope },
  2: { name: 'logRecords', type: () => logRecord, isList: true },
};

const resourceLogs: ProtobufFields = {
  1: { name: 'resource', type: () => resource },
  2: { name: 'scopeLogs', type: () => scopeLogs, isList: true },
};

/** `ExportLogsServiceRequest` in `opentelemetry/proto/collector/logs/v1`. */
export const exportLogsRequest: ProtobufFields = {
  1: { name: 'resourceLogs', type: () => resourceLogs, isList: true },
};

/** Encodes a `google.rpc.Status` with a message but no code. In OTLP, the response status is the code. */
export const writeStatus = (message: string): Buffer =>
  Buffer.from(new BinaryWriter().tag(2, lengthDelimited).string(message).finish());

/** Encodes an `ExportLogsServiceResponse`. It is empty if all records were accepted. */
export const writeLogsResponse = ({ rejectedLogRecords, errorMessage }: PartialSuccess): Buffer => {
  const writer = new BinaryWriter();
  if (rejectedLogRecords !== undefined && errorMessage !== undefined) {
    writer.tag(1, lengthDelimited).fork();
    writer.tag(1, varint).int64(rejectedLogRecords);
    writer.tag(2, lengthDelimited).string(errorMessage);
    writer.join();
  }
  return Buffer.from(writer.finish());
};

export interface PartialSuccess {
  /** 64-bit integer, as a string in JSON. */
  rejectedLogRecords?: string;
  errorMessage?: string;
}
