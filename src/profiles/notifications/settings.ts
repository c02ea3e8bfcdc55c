import type { Static } from 'typebox';
import Type from 'typebox';
import type { StoredRecord } from '../../storage/journal/read/lines.ts';
import { type Severity, toSeverity } from '../severity.ts';
import { readVia } from '../via.ts';
import { formatOf } from './delivery-alert.ts';
import { destinationTypes } from './destinations/index.ts';
import { isNoticeOf } from './notices.ts';

const GiB = 1024 ** 3;

const oneOrTwo = (description: string) =>
  Type.Union([Type.String({ minLength: 1 }), Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 2 })], {
    description,
  });

const texts = (description: string) => Type.Array(Type.String({ minLength: 1 }), { minItems: 1, description });

/** Names of destinations are parts of file names and paths. */
const namePattern = '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$';

/** A header's value. */
const HeaderValue = Type.Union(
  [
    Type.String({ minLength: 1 }),
    Type.Object({ variable: Type.String({ minLength: 1 }) }, { additionalProperties: false }),
    Type.Object({ file: Type.String({ minLength: 1 }) }, { additionalProperties: false }),
  ],
  { description: 'a text, {"variable": "NAME"} or {"file": "PATH"}' },
);

/** An entry of the setting `destinations`. Type and URL are checked later, with errors that name the destination. */
export const DestinationSettings = Type.Object(
  {
    name: Type.String({ pattern: namePattern, description: 'Up to 64 letters, digits, `_` and `-`.' }),
    type: Type.String({ description: `One of ${destinationTypes.map(({ name }) => name).join(', ')}.` }),
    url: Type.String({ description: 'Where alerts are sent, http or https.' }),
    secret: Type.Optional(oneOrTwo('The secret, or the current and the previous one.')),
    secretFile: Type.Optional(oneOrTwo('File with the secret, instead of `secret`.')),
    token: Type.Optional(Type.String({ minLength: 1, description: 'Sent as `Authorization: Bearer`.' })),
    tokenFile: Type.Optional(Type.String({ minLength: 1, description: 'File with the token, instead of `token`.' })),
    headers: Type.Optional(
      Type.Record(Type.String(), HeaderValue, {
        maxProperties: 16,
        description: 'Further headers: a text, or the variable or file that holds it.',
      }),
    ),
    notify: Type.Optional(Type.Enum(['alerts'], { description: 'What is sent: single alerts.' })),
    levels: Type.Optional(
      texts('Send only alerts of one of these severities: CRITICAL, ERROR, WARNING, INFO or what senders call them.'),
    ),
    sources: Type.Optional(texts('Send only alerts with one of these sources; `*` stands for any text.')),
    formats: Type.Optional(texts('Send only alerts of these formats; those of POST /api/alert are `native`.')),
    retrySeconds: Type.Optional(
      Type.Array(Type.Number({ minimum: 0, maximum: 7 * 24 * 3600 }), {
        maxItems: 100,
        description:
          'Seconds to wait after each failed attempt, instead of the usual schedule; then the alert is parked.',
      }),
    ),
    giveUpHours: Type.Optional(
      Type.Number({
        minimum: 0.0001,
        maximum: 720,
        description: 'Hours for which an alert is tried before it is parked; 24 by default.',
      }),
    ),
    repeatMinutes: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 7 * 24 * 60,
        description: 'Send an alert that keeps coming again after so many minutes, 240 by default; 0 never does.',
      }),
    ),
    concurrency: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 8, description: 'Requests at a time; 1 by default.' }),
    ),
    startAt: Type.Optional(
      Type.Enum(['now', 'oldest'], { description: 'Which alerts a new destination gets: later ones, or all.' }),
    ),
  },
  { additionalProperties: false },
);
export type DestinationSettings = Static<typeof DestinationSettings>;

/** The settings with their defaults. */
export const notificationSettings = {
  destinations: Type.Array(DestinationSettings, {
    default: [],
    maxItems: 16,
    writeOnly: true,
    description: 'Receivers of alerts: name, type, url and more; see docs/destinations.',
  }),
  outboxRetainBytes: Type.Integer({
    minimum: 0,
    default: GiB,
    description: 'How many bytes of closed log files are kept for destinations that have not received their alerts.',
  }),
};

interface Filter {
  name: string;
  levels?: string[];
  sources?: string[];
  formats?: string[];
}

/** Whether a destination gets the alert of a record. */
export type Accepts = (record: StoredRecord) => boolean;

/**
 * Accepts what the filter names, except alerts that `instance` has delivered before, which would go round in circles, those
 * that were imported, which are old, and those about the destination itself.
 */
export const createFilter = ({ name, levels, sources, formats }: Filter, instance: string): Accepts => {
  const wanted = levels?.map((level) => toSeverity(level));
  return (record) =>
    record['imported'] !== true &&
    !readVia(record['via']).includes(instance) &&
    !isNoticeOf(record, instance, name) &&
    (wanted === undefined || wanted.includes(severityOf(record))) &&
    (sources === undefined || sources.some((pattern) => isLike(String(record['source']), pattern))) &&
    (formats === undefined || formats.includes(formatOf(record)));
};

/** A resolved alert goes where the firing one went, which may have been more severe. */
const severityOf = ({ level, status, firingLevel }: StoredRecord): Severity =>
  toSeverity(String(status === 'resolved' && typeof firingLevel === 'string' ? firingLevel : level));

/** Whether the text is the pattern, in which each `*` stands for any text. */
export const isLike = (text: string, pattern: string): boolean => {
  const [start = '', ...parts] = pattern.split('*');
  const end = parts.pop();
  if (end === undefined) return text === pattern;
  if (!text.startsWith(start)) return false;
  let at = start.length;
  for (const part of parts) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - end.length >= at && text.endsWith(end);
};
