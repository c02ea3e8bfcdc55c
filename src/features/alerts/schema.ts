import Type, { type Static } from 'typebox';
import { AlertDelivery } from '../../kit/alert-source.ts';
import { defineList, defineShape, optionalText, orNull, pagingQuery } from '../../kit/route.ts';
import { severities } from '../../kit/severity.ts';
import { MiB } from '../../lib/units.ts';
import { formats } from './intake/body.ts';
import { intakeSettings } from './intake/custom/definition.ts';

const fields = {
  source: Type.String({ examples: ['backup'] }),
  level: Type.String({ description: 'Any text.', examples: ['ERROR'] }),
  message: Type.String({ examples: ['disk is full'] }),
  hostname: Type.String({ examples: ['web-1'] }),
};

/** At least one of the first four must not be empty; the others are stored with them. */
export const AlertBody = Type.Partial(
  Type.Object({
    ...fields,
    key: Type.String({
      description:
        'What the alert is about, by your own choice: an alert that is resolved ends those that fire with its key.',
      examples: ['backup/web-1'],
    }),
    status: Type.String({
      description: '`firing` or `resolved`; with a `key`, `firing` by default. Other texts count as absent.',
      examples: ['firing'],
    }),
    labels: Type.Object({}, { additionalProperties: true, examples: [{ team: 'db' }] }),
    link: Type.String({
      description: 'An http or https URL; others are not kept.',
      examples: ['https://backup.example.org/jobs/7'],
    }),
  }),
  { title: 'NewAlert' },
);
export type AlertBody = Static<typeof AlertBody>;

const id = '25d37939-e0b7-418e-85b2-0446abab8810';

export const AlertReceipt = defineShape('AlertReceipt', {
  received: Type.Literal(true),
  id: Type.String({ format: 'uuid', description: "The record's id in the log.", examples: [id] }),
});

export const Alert = defineShape('Alert', {
  timestamp: Type.String({ description: 'Local time of receipt.', examples: ['2026-01-31T09:30:00'] }),
  ...fields,
  receivedAt: Type.String({ description: 'Local time of receipt.', examples: ['09:30:00'] }),
});

export type Alert = Static<typeof Alert>;

export const AlertQuery = Type.Object({
  count: Type.Integer({
    minimum: 0,
    maximum: 10_000,
    default: 10,
    description: 'How many of the last records to search.',
  }),
  level: optionalText('Only alerts with exactly this level.', 'ERROR'),
});

export const AlertList = defineList('AlertList', 'Alerts', Alert, 'Oldest first.');

export const Readiness = defineShape('Readiness', {
  status: Type.Literal('ready'),
  unavailable: Type.Optional(
    Type.Array(Type.String({ examples: ['tasks'] }), {
      description: 'What cannot be used at the moment; absent if all can. Alerts are stored nevertheless.',
    }),
  ),
});

const rfc3339 = 'RFC 3339 with offset';
const example = '2026-01-31T09:30:00+01:00';

const AlertTime = Type.String({ format: 'date-time', examples: [example] });

/** The filters that search and histogram share. */
const since = optionalText(`Only alerts received at this time or later, ${rfc3339}.`, example);
const until = optionalText(`Only alerts received before this time, ${rfc3339}.`, example);
const level = optionalText('Only alerts with this level, in any case; `*` stands for any text.', 'ERROR');
const severity = optionalText(
  'Only alerts of this severity, whatever their level is called: any name of it, such as CRITICAL or warn.',
  'CRITICAL',
);

const filters = {
  level,
  severity,
  source: optionalText('Only alerts with this source, in any case; `*` stands for any text.', 'backup*'),
  hostname: optionalText('Only alerts with this host name, in any case; `*` stands for any text.', 'web-*'),
  status: optionalText('Only alerts with this status, in any case.', 'firing'),
  q: Type.Optional(Type.String({ description: 'Only alerts with this text in the message, in any case.' })),
};

export const SearchQuery = Type.Object({
  ...pagingQuery('alerts', 'Only alerts before this `seq`: the `next` of a page.'),
  ...filters,
  since,
  until,
});
export type SearchQuery = Static<typeof SearchQuery>;

export const HistogramQuery = Type.Object({
  since,
  until,
  buckets: Type.Integer({ minimum: 1, maximum: 500, default: 24, description: 'Maximum number of buckets to return.' }),
  ...filters,
});
export type HistogramQuery = Static<typeof HistogramQuery>;

const Id = Type.String({ format: 'uuid', examples: ['019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c55'] });

const entry = {
  seq: Type.Integer({ description: 'Its place in the log.', examples: [1042] }),
  id: Id,
  time: orNull(AlertTime, 'When it was received.'),
  format: Type.String({
    description: 'The format it came in; `native` for `POST /api/alert`.',
    examples: ['alertmanager'],
  }),
  status: orNull(Type.String({ examples: ['firing'] }), '`firing` or `resolved`.'),
  sender: orNull(
    Type.String({ examples: ['key:alertmanager'] }),
    'Who sent it: `key:NAME`, `user:NAME` or `address:IP`.',
  ),
  fingerprint: orNull(Type.String({ examples: ['6b3fd5c0a1e2d4f7'] }), 'What identifies it at its sender.'),
  labels: orNull(Type.Record(Type.String(), Type.String({ examples: ['critical'] })), 'Its labels.'),
  link: orNull(Type.String({ examples: ['https://grafana.example.org/alerting'] }), 'Where its sender shows it.'),
  details: orNull(Type.String({ examples: ['92 % of 50 GB are used'] }), 'Further text from its sender.'),
  links: orNull(
    Type.Record(Type.String(), Type.String({ examples: ['https://wiki.example.org/disk'] })),
    'Other addresses by what they lead to: `runbook`, `dashboard`, `panel`, `silence` and the like.',
  ),
  resolves: orNull(Id, 'The id of the alert that this one ends.'),
  resolvedBy: orNull(Type.Object({ id: Id, time: AlertTime }), 'The alert that has ended this one.'),
  incident: orNull(
    Type.Object({ id: Id, number: Type.Integer({ examples: [412] }) }),
    'The incident that it belongs to; in events always `null`.',
  ),
  repeatOf: orNull(Id, 'The id of the alert that this one reminds of.'),
  ...Alert.properties,
  severity: Type.Enum(severities, {
    type: 'string',
    description: 'The severity of the level; WARNING if the level is unknown.',
    examples: ['ERROR'],
  }),
};

export const AlertEntry = defineShape('AlertEntry', entry);
export type AlertEntry = Static<typeof AlertEntry>;

export const AlertPage = defineShape('AlertPage', {
  count: Type.Integer({ description: 'Alerts in `data`.', examples: [1] }),
  data: Type.Array(AlertEntry, { description: 'Newest first.' }),
  next: orNull(Type.Integer({ examples: [992] }), 'The `before` of the next page.'),
});

export const AlertDetails = defineShape('AlertDetails', {
  ...entry,
  startsAt: orNull(AlertTime, 'When it began, by its sender.'),
  endsAt: orNull(AlertTime, 'When it ended, by its sender.'),
  via: orNull(Type.String({ examples: ['signalbox/5e0c3f1a'] }), 'The signalbox instances that it came through.'),
  deliveries: Type.Array(AlertDelivery),
});

export const AlertHistogram = defineShape('AlertHistogram', {
  since: Type.String({
    format: 'date-time',
    examples: [example],
    description: 'Start of the first bucket: a whole minute.',
  }),
  until: Type.String({ format: 'date-time', examples: [example], description: 'End of the last bucket.' }),
  bucketSeconds: Type.Integer({ description: 'Length of a bucket: whole minutes.', examples: [3600] }),
  complete: Type.Boolean({
    examples: [true],
    description:
      'Whether all alerts are counted: `false` while old files are being indexed, if `level` is one of very many, and if other filters would have to read more than 64 MiB of the log.',
  }),
  buckets: Type.Array(
    defineShape('AlertBucket', {
      time: Type.String({ format: 'date-time', examples: [example], description: 'Start of the bucket.' }),
      count: Type.Integer({ description: 'Alerts received in it.', examples: [3] }),
      levels: Type.Record(Type.String(), Type.Integer({ examples: [3] }), {
        description: 'How many of each severity that it has: `CRITICAL`, `ERROR`, `WARNING`, `INFO`.',
      }),
    }),
    { description: 'In order of time, also those without alerts.' },
  ),
});

/** Days for which a new log keeps alerts, if `alertsRetainDays` is not set. */
export const defaultRetainDays = 400;

const retention = (description: string) => Type.Integer({ minimum: 0, default: 0, description });

const signing = formats.filter(({ signature }) => signature).map(({ name }) => name);

/** The alert log's settings with their defaults. */
export const alertSettings = {
  ...intakeSettings,
  intakeSecrets: Type.Optional(
    Type.Object(Object.fromEntries(signing.map((name) => [name, Type.Optional(Type.String({ minLength: 1 }))])), {
      writeOnly: true,
      additionalProperties: false,
      description: 'Secrets by format whose senders sign their requests; unsigned ones are then refused.',
    }),
  ),
  resolveTimeout: Type.Number({
    minimum: 1,
    maximum: 7 * 24 * 3600,
    default: 300,
    description:
      'Seconds after which an alert of `POST /api/v2/alerts` without `endsAt` is resolved unless it comes again.',
  }),
  alertsSync: Type.Boolean({
    default: true,
    description: 'Respond only once the alert is on disk; off is faster but can lose alerts on power loss.',
  }),
  alertsSegmentBytes: Type.Integer({
    minimum: 4096,
    default: 64 * MiB,
    description: 'Maximum size of a log file in bytes; the log continues in a new file.',
  }),
  alertsRetainSegments: retention('Number of closed log files to keep; 0 keeps all.'),
  alertsRetainBytes: retention('Bytes of closed log files to keep; 0 keeps all.'),
  alertsRetainDays: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: `Days to keep an alert; 0 keeps all. By default ${defaultRetainDays}; a log that version 1.0 has begun keeps all. Whole files are deleted, up to a day later.`,
    }),
  ),
  alertsQueueCount: Type.Integer({
    minimum: 1,
    default: 10_000,
    description: 'Number of alerts that may wait for the disk; further ones get 503.',
  }),
  alertsQueueBytes: Type.Integer({
    minimum: 4 * MiB,
    default: 32 * MiB,
    description: 'Bytes of alerts that may wait for the disk; further alerts get 503.',
  }),
  alertsMinFreeBytes: Type.Integer({
    minimum: 0,
    default: MiB,
    description: 'Free space in bytes that the file system must have; with less, alerts get 503.',
  }),
  spool: Type.Boolean({
    default: true,
    description:
      'With a database that instances share: keep alerts in `dataDir` while it cannot be used; off where disks do not last, so they get 503.',
  }),
};
