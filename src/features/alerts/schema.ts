import Type, { type Static } from 'typebox';
import { AlertDelivery } from '../../kit/alert-source.ts';
import { severities } from '../../kit/severity.ts';
import { defineList, defineShape, optionalText, orNull, pagingQuery } from '../../kit/shape.ts';

const fields = {
  source: Type.String({ examples: ['backup'] }),
  level: Type.String({ description: 'Any text.', examples: ['ERROR'] }),
  message: Type.String({ examples: ['disk is full'] }),
  hostname: Type.String({ examples: ['web-1'] }),
};

/** Body of a native alert. At least one of the first four fields must not be empty. */
export const AlertBody = Type.Partial(
  Type.Object({
    ...fields,
    key: Type.String({
      description: 'Key of the problem: a resolved alert resolves the firing alerts with its key.',
      examples: ['backup/web-1'],
    }),
    status: Type.String({
      description: '`firing` or `resolved`; with a `key`, `firing` by default. Any other value counts as absent.',
      examples: ['firing'],
    }),
    labels: Type.Object({}, { additionalProperties: true, examples: [{ team: 'db' }] }),
    link: Type.String({
      description: 'An http or https URL; any other value is dropped.',
      examples: ['https://backup.example.org/jobs/7'],
    }),
  }),
  { title: 'NewAlert' },
);
export type AlertBody = Static<typeof AlertBody>;

const id = '25d37939-e0b7-418e-85b2-0446abab8810';

export const AlertReceipt = defineShape('AlertReceipt', {
  received: Type.Literal(true),
  id: Type.String({ format: 'uuid', description: 'Id of the alert in the log.', examples: [id] }),
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
    description: 'Number of latest records to search.',
  }),
  level: optionalText('Only alerts with exactly this level.', 'ERROR'),
});

export const AlertList = defineList('AlertList', 'Alerts', Alert, 'Oldest first.');

export const Readiness = defineShape('Readiness', {
  status: Type.Literal('ready'),
  unavailable: Type.Optional(
    Type.Array(Type.String({ examples: ['tasks'] }), {
      description: 'Parts of the server that cannot be used now; absent if there are none. Alerts are stored anyway.',
    }),
  ),
});

const rfc3339 = 'RFC 3339 with offset';
const example = '2026-01-31T09:30:00+01:00';

const AlertTime = Type.String({ format: 'date-time', examples: [example] });

/** Filters shared by search and histogram. */
const since = optionalText(`Only alerts received at this time or later, ${rfc3339}.`, example);
const until = optionalText(`Only alerts received before this time, ${rfc3339}.`, example);
const level = optionalText('Only alerts with this level, ignoring case; `*` matches any text.', 'ERROR');
const severity = optionalText(
  'Only alerts of this severity, under any of its names, such as CRITICAL or warn.',
  'CRITICAL',
);

const filters = {
  level,
  severity,
  source: optionalText('Only alerts with this source, ignoring case; `*` matches any text.', 'backup*'),
  hostname: optionalText('Only alerts with this host name, ignoring case; `*` matches any text.', 'web-*'),
  status: optionalText('Only alerts with this status, ignoring case.', 'firing'),
  q: Type.Optional(Type.String({ description: 'Only alerts whose message contains this text, ignoring case.' })),
};

export const SearchQuery = Type.Object({
  ...pagingQuery('alerts', 'Only alerts before this `seq`; pass the `next` of the previous page.'),
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
  seq: Type.Integer({ description: 'Sequence number in the log.', examples: [1042] }),
  id: Id,
  time: orNull(AlertTime, 'Time of receipt.'),
  format: Type.String({
    description: 'Format of the request; `native` for `POST /api/alert`.',
    examples: ['alertmanager'],
  }),
  status: orNull(Type.String({ examples: ['firing'] }), '`firing` or `resolved`.'),
  sender: orNull(Type.String({ examples: ['key:alertmanager'] }), 'Sender: `key:NAME`, `user:NAME` or `address:IP`.'),
  fingerprint: orNull(Type.String({ examples: ['6b3fd5c0a1e2d4f7'] }), "The sender's id of the problem."),
  labels: orNull(Type.Record(Type.String(), Type.String({ examples: ['critical'] })), 'Labels by name.'),
  link: orNull(
    Type.String({ examples: ['https://grafana.example.org/alerting'] }),
    "The sender's page about the alert.",
  ),
  details: orNull(Type.String({ examples: ['92 % of 50 GB are used'] }), 'Additional text from the sender.'),
  links: orNull(
    Type.Record(Type.String(), Type.String({ examples: ['https://wiki.example.org/disk'] })),
    'Other URLs by purpose: `runbook`, `dashboard`, `panel`, `silence` and so on.',
  ),
  resolves: orNull(Id, 'Id of the alert that this alert resolves.'),
  resolvedBy: orNull(Type.Object({ id: Id, time: AlertTime }), 'Alert that has resolved this alert.'),
  incident: orNull(
    Type.Object({ id: Id, number: Type.Integer({ examples: [412] }) }),
    'Incident of the alert; `null` in events.',
  ),
  repeatOf: orNull(Id, 'Id of the first alert, if this alert is a reminder.'),
  ...Alert.properties,
  severity: Type.Enum(severities, {
    type: 'string',
    description: 'Severity of the level; WARNING if the level is unknown.',
    examples: ['ERROR'],
  }),
};

export const AlertEntry = defineShape('AlertEntry', entry);
export type AlertEntry = Static<typeof AlertEntry>;

export const AlertPage = defineShape('AlertPage', {
  count: Type.Integer({ description: 'Number of alerts in `data`.', examples: [1] }),
  data: Type.Array(AlertEntry, { description: 'Newest first.' }),
  next: orNull(Type.Integer({ examples: [992] }), 'Value of `before` for the next page.'),
});

export const AlertDetails = defineShape('AlertDetails', {
  ...entry,
  startsAt: orNull(AlertTime, 'Start of the problem, as reported by the sender.'),
  endsAt: orNull(AlertTime, 'End of the problem, as reported by the sender.'),
  via: orNull(
    Type.String({ examples: ['signalbox/5e0c3f1a'] }),
    'Instances of signalbox that have delivered the alert.',
  ),
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
      '`true` if all alerts are counted. `false` while old files are being indexed, if the log has very many levels and `level` is rare, or if other filters would read more than 64 MiB of the log.',
  }),
  buckets: Type.Array(
    defineShape('AlertBucket', {
      time: Type.String({ format: 'date-time', examples: [example], description: 'Start of the bucket.' }),
      count: Type.Integer({ description: 'Alerts received in the bucket.', examples: [3] }),
      levels: Type.Record(Type.String(), Type.Integer({ examples: [3] }), {
        description:
          'Number of alerts by severity: `CRITICAL`, `ERROR`, `WARNING`, `INFO`. Severities without alerts are absent.',
      }),
    }),
    { description: 'In chronological order, including buckets without alerts.' },
  ),
});
