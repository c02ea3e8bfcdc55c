import Type, { type Static, type TSchema } from 'typebox';
import { defineShape } from '../../route.ts';
import { severities } from '../../severity.ts';
import { Alert } from '../schema.ts';

const orNull = <T extends TSchema>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description: `${description} \`null\` where there is none.` });

const rfc3339 = 'RFC 3339 with offset';
const example = '2026-01-31T09:30:00+01:00';

const Time = Type.String({ format: 'date-time', examples: [example] });

/** The filters that search and histogram share. */
const since = Type.Optional(
  Type.String({ description: `Only alerts received at this time or later, ${rfc3339}.`, examples: [example] }),
);
const until = Type.Optional(
  Type.String({ description: `Only alerts received before this time, ${rfc3339}.`, examples: [example] }),
);
const level = Type.Optional(
  Type.String({ description: 'Only alerts with this level, in any case.', examples: ['ERROR'] }),
);
const severity = Type.Optional(
  Type.String({
    description:
      'Only alerts of this severity, whatever their level is called: any name of it, such as CRITICAL or warn.',
    examples: ['CRITICAL'],
  }),
);

export const SearchQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 1000, default: 50, description: 'Most alerts to return.' }),
  before: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Only alerts before this `seq`: the `next` of a page.' }),
  ),
  level,
  severity,
  source: Type.Optional(
    Type.String({ description: 'Only alerts with this source, in any case.', examples: ['backup'] }),
  ),
  hostname: Type.Optional(
    Type.String({ description: 'Only alerts with this host name, in any case.', examples: ['web-1'] }),
  ),
  status: Type.Optional(
    Type.String({ description: 'Only alerts with this status, in any case.', examples: ['firing'] }),
  ),
  q: Type.Optional(Type.String({ description: 'Only alerts with this text in the message, in any case.' })),
  since,
  until,
});
export type SearchQuery = Static<typeof SearchQuery>;

export const HistogramQuery = Type.Object({
  since,
  until,
  buckets: Type.Integer({ minimum: 1, maximum: 500, default: 24, description: 'Most buckets to return.' }),
  level,
  severity,
});
export type HistogramQuery = Static<typeof HistogramQuery>;

const Id = Type.String({ format: 'uuid', examples: ['019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c55'] });

const entry = {
  seq: Type.Integer({ description: 'Its place in the log.', examples: [1042] }),
  id: Id,
  time: orNull(Time, 'When it was received.'),
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
  details: orNull(Type.String({ examples: ['92 % of 50 GB are used'] }), 'What else its sender says.'),
  links: orNull(
    Type.Record(Type.String(), Type.String({ examples: ['https://wiki.example.org/disk'] })),
    'Other addresses by what they lead to: `runbook`, `dashboard`, `panel`, `silence` and the like.',
  ),
  resolves: orNull(Id, 'The id of the alert that this one ends.'),
  resolvedBy: orNull(Type.Object({ id: Id, time: Time }), 'The alert that has ended this one.'),
  incident: orNull(
    Type.Object({ id: Id, number: Type.Integer({ examples: [412] }) }),
    'The incident that it belongs to; in events always `null`.',
  ),
  repeatOf: orNull(Id, 'The id of the alert that this one reminds of.'),
  ...Alert.properties,
  severity: Type.Enum(severities, {
    type: 'string',
    description: 'What the level means; WARNING if it is no known name.',
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

export const AlertDelivery = defineShape('AlertDelivery', {
  destination: Type.String({ description: 'Name of the destination.', examples: ['pager'] }),
  status: Type.Enum(['waiting', 'delivered', 'skipped', 'parked', 'unknown'], {
    type: 'string',
    description: '`skipped`: not for this destination. `unknown`: delivered, or one of very many that were parked.',
  }),
  attempts: Type.Integer({ description: 'Failed attempts, while the alert waits.', examples: [0] }),
  error: orNull(Type.String({ examples: ['the receiver responded 404'] }), 'Why it is parked.'),
});
export type AlertDelivery = Static<typeof AlertDelivery>;

export const AlertDetails = defineShape('AlertDetails', {
  ...entry,
  startsAt: orNull(Time, 'When it began, by its sender.'),
  endsAt: orNull(Time, 'When it ended, by its sender.'),
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
      'Whether all alerts are counted: `false` while old files are being indexed, and if `level` is one of very many.',
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
