import { isUtf8 } from 'node:buffer';
import Type, { type Static } from 'typebox';
import { isObject } from '../../../../lib/parse-json.ts';
import {
  findDetails,
  findFirstSeverity,
  findNumberedSeverity,
  firstText,
  listHostFields,
  listSeverityNames,
  toAlertLabels,
  toHostname,
  toSource,
} from '../fields.ts';
import { defineFormat, type ForeignAlert } from '../format.ts';
import { listLinks, toLink, toLinks } from '../links.ts';
import { readProtobuf } from '../protobuf.ts';
import { formatTime } from '../times.ts';
import { exportLogsRequest, type PartialSuccess, writeLogsResponse, writeStatus } from './otlp-protobuf.ts';

const Value = Type.Object(
  {
    stringValue: Type.Optional(Type.String()),
    boolValue: Type.Optional(Type.Boolean()),
    intValue: Type.Optional(Type.Union([Type.String(), Type.Integer()])),
    doubleValue: Type.Optional(Type.Union([Type.Number(), Type.String()])),
    kvlistValue: Type.Optional(
      Type.Object(
        { values: Type.Optional(Type.Array(Type.Unknown())) },
        {
          description:
            'The message is the member `message`, `msg`, `log` or `error`; without these members, all members.',
        },
      ),
    ),
    arrayValue: Type.Optional(Type.Object({ values: Type.Optional(Type.Array(Type.Unknown())) })),
    bytesValue: Type.Optional(Type.String({ description: 'In base64.' })),
  },
  { title: 'OtlpValue' },
);

const Attributes = Type.Optional(Type.Array(Type.Object({ key: Type.String(), value: Type.Optional(Value) })));

const Nanoseconds = Type.Optional(
  Type.Union([Type.String(), Type.Integer()], { examples: ['1769851800000000000'], description: 'Since 1970.' }),
);

const OtlpRecord = Type.Object(
  {
    timeUnixNano: Nanoseconds,
    observedTimeUnixNano: Nanoseconds,
    severityNumber: Type.Optional(Type.Integer({ description: '1 to 24.', examples: [17] })),
    severityText: Type.Optional(Type.String()),
    body: Type.Optional(Value),
    attributes: Attributes,
    eventName: Type.Optional(Type.String()),
  },
  { title: 'OtlpLogRecord' },
);

/** Media type for OTLP in Protobuf. */
const protobufType = 'application/x-protobuf';

/** OpenTelemetry logs over HTTP (OTLP), as JSON or Protobuf. */
export const otlp = defineFormat({
  name: 'otlp',
  summary: 'Store OpenTelemetry log records, sent over HTTP as JSON or Protobuf',
  schema: Type.Object(
    {
      resourceLogs: Type.Optional(
        Type.Array(
          Type.Object({
            resource: Type.Optional(Type.Object({ attributes: Attributes })),
            scopeLogs: Type.Optional(
              Type.Array(
                Type.Object({
                  scope: Type.Optional(Type.Object({ name: Type.Optional(Type.String()) })),
                  logRecords: Type.Optional(Type.Array(OtlpRecord)),
                }),
              ),
            ),
          }),
        ),
      ),
    },
    { title: 'OtlpLogs' },
  ),
  mediaTypes: [protobufType],
  decode: ({ contentType, bytes }) =>
    contentType === protobufType ? readProtobuf(exportLogsRequest, bytes) : undefined,
  recognizes: (value) => isObject(value) && 'resourceLogs' in value,
  *readAlerts({ resourceLogs = [] }) {
    for (const { resource = {}, scopeLogs = [] } of resourceLogs) {
      const shared = toFields(resource.attributes);
      for (const { scope, logRecords = [] } of scopeLogs) {
        for (const record of logRecords) yield toRecordAlert(record, shared, scope?.name);
      }
    }
  },
  answer: {
    status: 200,
    schema: Type.Object(
      {
        partialSuccess: Type.Object({
          rejectedLogRecords: Type.Optional(
            Type.String({ description: 'Number of records below WARN, which are not stored.', examples: ['2'] }),
          ),
          errorMessage: Type.Optional(Type.String({ examples: ['Records below WARN are not stored'] })),
        }),
      },
      { title: 'OtlpReceipt' },
    ),
    create: ({ leftOut }) => ({ partialSuccess: toPartialSuccess(leftOut) }),
  },
  binary: {
    mediaType: protobufType,
    write: (answer) => writeLogsResponse((answer as { partialSuccess: PartialSuccess }).partialSuccess),
    writeError: writeStatus,
  },
});

const toPartialSuccess = (leftOut: number): PartialSuccess =>
  leftOut === 0
    ? {}
    : { rejectedLogRecords: String(leftOut), errorMessage: 'Records below WARN are not stored: see /api/alert/otlp' };

type Fields = Record<string, unknown>;

const toRecordAlert = (record: Static<typeof OtlpRecord>, shared: Fields, scope: string | undefined): ForeignAlert => {
  const own = toFields(record.attributes);
  const fields = { ...shared, ...own };
  const message = firstText(toRecordText(record.body), own['message'], own['exception.message'], record.eventName);
  return {
    source: toSource('otlp', shared['service.name'], scope),
    level:
      findNumberedSeverity(record.severityNumber) ??
      findFirstSeverity(record.severityText, ...listSeverityNames(own)) ??
      'WARNING',
    message,
    details: findDetails(message, own['details'], own['description'], own['exception.stacktrace']),
    links: toLinks(listLinks(own)),
    link: toLink(own['link'], own['url']),
    hostname: toHostname(fields['host.name'], ...listHostFields(fields), fields['service.instance.id']),
    status: 'firing',
    startsAt: readNanoseconds(record.timeUnixNano) ?? readNanoseconds(record.observedTimeUnixNano),
    labels: toAlertLabels(fields),
    via: firstText(own['via'], shared['via']),
  };
};

/**
 * Maximum number of attributes, and maximum length of a string in characters. Limits are needed because many records
 * share the attributes of one resource.
 */
const maxAttributes = 256;
const maxTextLength = 4096;

/** Returns attributes by key. Lists, maps and bytes become undefined. */
const toFields = (attributes: Static<typeof Attributes> = []): Fields =>
  Object.fromEntries(
    attributes.slice(0, maxAttributes).map(({ key, value }) => {
      const scalar = toScalar(value);
      return [key, typeof scalar === 'string' ? scalar.slice(0, maxTextLength) : scalar];
    }),
  );

const toScalar = (value: Static<typeof Value> = {}): unknown =>
  value.stringValue ?? value.boolValue ?? value.intValue ?? value.doubleValue;

/** Returns the text of a body: for a map its message, otherwise the map or list as JSON. */
const toRecordText = (body: Static<typeof Value> = {}): string => {
  const value = toPlain(body);
  if (typeof value !== 'object' || value === null) return String(value ?? '');
  const { message, msg, log, error } = value as Record<string, unknown>;
  const text = firstText(message, msg, log, error);
  if (text !== '' || Object.keys(value).length === 0) return text;
  return JSON.stringify(value).slice(0, maxTextLength);
};

/** Maximum depth of values in a string, and maximum number of members. */
const maxDepth = 8;
const maxMembers = 100;

/** Converts an OTLP value to plain JSON. */
const toPlain = (value: unknown, depth = 0): unknown => {
  if (!isObject(value) || depth > maxDepth) return undefined;
  const { kvlistValue: map, arrayValue: list, bytesValue: bytes } = value;
  if (isObject(map)) {
    const members = listValues(map).filter(isObject);
    return Object.fromEntries(members.map(({ key, value: member }) => [String(key), toPlain(member, depth + 1)]));
  }
  if (isObject(list)) return listValues(list).map((member) => toPlain(member, depth + 1));
  if (typeof bytes === 'string') return decodeBytes(bytes);
  const scalar = toScalar(value);
  // 64-bit integers are strings in JSON.
  if (scalar === value['intValue'] && Number.isSafeInteger(Number(scalar))) return Number(scalar);
  return typeof scalar === 'string' ? scalar.slice(0, maxTextLength) : scalar;
};

const listValues = ({ values }: Record<string, unknown>): unknown[] =>
  Array.isArray(values) ? values.slice(0, maxMembers) : [];

/** Decodes bytes as UTF-8. Other bytes stay in base64. */
const decodeBytes = (base64: string): string => {
  const bytes = Buffer.from(base64.slice(0, maxTextLength), 'base64');
  return isUtf8(bytes) ? bytes.toString('utf8') : base64.slice(0, maxTextLength);
};

/** Converts nanoseconds to RFC 3339. Undefined for invalid values and for 0, because 0 means unknown. */
const readNanoseconds = (nanoseconds: string | number = 0): string | undefined =>
  Number(nanoseconds) > 0 ? formatTime(new Date(Number(nanoseconds) / 1e6)) : undefined;
