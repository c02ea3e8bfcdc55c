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
} from '../fields.ts';
import { defineFormat, type ForeignAlert, type IntakeRequest } from '../format.ts';
import { toFingerprint } from '../hashes.ts';
import { listLinks, toLink, toLinks } from '../links.ts';
import { toRfc3339 } from '../times.ts';

const attribute = (example: string) => Type.String({ minLength: 1, examples: [example] });

const CloudEvent = Type.Object(
  {
    specversion: attribute('1.0'),
    id: attribute('A234-1234-1234'),
    source: attribute('/backup/web-1'),
    type: attribute('com.example.backup.failed'),
    subject: Type.Optional(attribute('web-1')),
    time: Type.Optional(Type.String({ examples: ['2026-01-31T09:30:00Z'] })),
    data: Type.Optional(
      Type.Unknown({ description: 'A string, or an object with `message`, `severity` and similar members.' }),
    ),
    data_base64: Type.Optional(Type.String()),
  },
  { title: 'CloudEvent' },
);

/** CloudEvents over HTTP: an event as JSON, a list of events, or an event in `ce-*` headers with any body. */
export const cloudevents = defineFormat({
  name: 'cloudevents',
  summary: 'Store CloudEvents in structured, binary or batch mode',
  schema: Type.Union([CloudEvent, Type.Array(CloudEvent)]),
  mediaTypes: ['application/cloudevents+json', 'application/cloudevents-batch+json'],
  recognizes: (value) => (Array.isArray(value) ? value.length > 0 && value.every(isEvent) : isEvent(value)),
  decode: (incoming) => (incoming.headers['ce-specversion'] === undefined ? undefined : readBinaryMode(incoming)),
  *readAlerts(body) {
    for (const event of Array.isArray(body) ? body : [body]) yield toEventAlert(event);
  },
});

const isEvent = (value: unknown): boolean =>
  isObject(value) && ['specversion', 'id', 'type', 'source'].every((name) => name in value);

/** Parses an event with its attributes in the headers and its data in the body. */
const readBinaryMode = ({ headers, contentType = '', bytes, parseJson }: IntakeRequest): unknown => {
  const attributes = Object.entries(headers)
    .filter(([name]) => name.startsWith('ce-'))
    .map(([name, value]) => [name.slice('ce-'.length), decodePercent(String(value))]);
  const isJson = /[/+]json$/.test(contentType) && bytes.length > 0;
  return { ...Object.fromEntries(attributes), data: isJson ? parseJson(bytes) : readText(bytes) };
};

/** Decodes an attribute in a header. There, everything but printable ASCII is percent-encoded. */
const decodePercent = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

const readText = (bytes: Buffer): string | undefined => (isUtf8(bytes) ? bytes.toString('utf8') : undefined);

const toEventAlert = (event: Static<typeof CloudEvent>): ForeignAlert => {
  const {
    specversion: _,
    id,
    source,
    time,
    datacontenttype: _type,
    dataschema: _schema,
    ...others
  } = event as Static<typeof CloudEvent> & Record<string, unknown>;
  const { data: given, data_base64: base64, ...attributes } = others;
  const data = given ?? (base64 === undefined ? undefined : readText(Buffer.from(base64, 'base64')));
  const fields = isObject(data) ? data : {};
  const more: Record<string, unknown> = attributes;
  const message = firstText(fields['message'], data, event.type);
  return {
    source,
    level:
      findNumberedSeverity(more['severitynumber']) ??
      findFirstSeverity(more['severitytext'], ...listSeverityNames(more), ...listSeverityNames(fields)) ??
      'WARNING',
    message,
    details: findDetails(message, fields['details'], fields['description']),
    links: toLinks(listLinks(fields)),
    hostname: toHostname(...listHostFields(more), ...listHostFields(fields), event.subject),
    status: firstText(more['status'], fields['status']).toLowerCase() === 'resolved' ? 'resolved' : 'firing',
    fingerprint: toFingerprint([source, id]),
    startsAt: toRfc3339(time),
    labels: toAlertLabels(attributes),
    link: toLink(fields['link'], fields['url']),
    via: firstText(more['via'], fields['via']),
  };
};
