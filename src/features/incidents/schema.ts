import Type, { type Static } from 'typebox';
import { IncidentNotification, notificationKinds } from '../../kit/incident-source.ts';
import { defineShape, optionalText, orNull, pagingQuery, Time } from '../../kit/route.ts';
import { severities } from '../../kit/severity.ts';

export const incidentStates = ['open', 'acknowledged', 'resolved'] as const;
export type IncidentState = (typeof incidentStates)[number];

/** Why an incident is resolved: its sender or a person said so, or nothing came for `quietHours`. */
const resolutionReasons = ['sender', 'person', 'quiet'] as const;

/** What can happen to an incident. */
const incidentEventTypes = [
  ...(['opened', 'raised', 'lowered', 'acknowledged', 'snoozeEnded', 'comment', 'silenced', 'notified'] as const),
  ...(['reminder', 'escalated', 'taskCreated', 'snapshotTaken', 'resolved', 'reopened'] as const),
] as const;

/** The most characters of a comment, and ids of one request. */
const longestComment = 4000;
const mostIds = 500;

const example = '2026-01-31T08:30:00.000Z';
const time = (description: string) => Type.String({ ...Time, description });
const text = (sample: string, description: string) => Type.String({ description, examples: [sample] });
const textOrNull = (sample: string, description: string) => orNull(Type.String({ examples: [sample] }), description);
const Level = Type.Enum(severities, { type: 'string', examples: ['ERROR'] });

const Id = Type.String({ format: 'uuid', examples: ['019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c55'] });

const incident = {
  id: Id,
  number: Type.Integer({ description: 'A short number for people; `{id}` may be this.', examples: [412] }),
  key: text('backup/web-1', 'What its alerts have in common: their key, fingerprint or subject.'),
  state: Type.Enum(incidentStates, { type: 'string' }),
  level: Type.Enum(severities, { type: 'string', examples: ['ERROR'], description: 'Its current severity.' }),
  highestLevel: Type.Enum(severities, {
    type: 'string',
    examples: ['CRITICAL'],
    description: 'Its highest severity so far.',
  }),
  title: text('disk is full', 'The latest message of an alert that fires, without the output of a job below it.'),
  source: text('backup', 'Of its latest alert that fires, as is `hostname`.'),
  hostname: text('web-1', ''),
  sender: textOrNull('key:alertmanager', 'Who sends its alerts: `key:NAME` or `user:NAME`.'),
  labels: orNull(Type.Record(Type.String(), Type.String({ examples: ['db'] })), 'Of its latest alert that has any.'),
  link: textOrNull('https://grafana.example.org/alerting', 'Of its latest alert that has one.'),
  count: Type.Integer({ description: 'Number of its alerts.', examples: [3] }),
  firstAt: time('When its first alert was received.'),
  lastAt: time('When its latest alert was received.'),
  stateSince: time('Since when it has its state.'),
  acknowledgedBy: textOrNull('admin', 'Who has taken it: a user, `key:NAME`, or the sender of an alert.'),
  acknowledgedAt: orNull(Time, 'When that was.'),
  acknowledgedUntil: orNull(Time, 'When it opens again by itself.'),
  acknowledgedComment: textOrNull('on it', 'Their comment.'),
  resolvedBy: textOrNull('admin', 'Who has resolved it, a person or the sender.'),
  resolvedAt: orNull(Time, 'When it was resolved.'),
  resolvedReason: orNull(
    Type.Enum(resolutionReasons, { type: 'string', examples: ['person'] }),
    'Why it ended; `quiet`: no more alerts came, for `quietHours` or until the end that the sender gave.',
  ),
  reopened: Type.Integer({ description: 'How often it was reopened.', examples: [0] }),
  silencedBy: Type.Array(Type.String({ examples: ['019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c56'] }), {
    description: 'The silences that it is under now: it notifies nobody.',
  }),
  task: orNull(Type.Integer({ examples: [2] }), 'The id of the task that was created for it.'),
  snapshot: orNull(Time, 'When its machine was recorded for `GET /api/incidents/{id}/snapshot`.'),
  version: Type.Integer({
    examples: [1],
    description: 'Its version, as the `ETag` has it. Alerts that only repeat do not change it.',
  }),
};

export const Incident = defineShape('Incident', incident);
export type Incident = Static<typeof Incident>;

export const IncidentEvent = defineShape('IncidentEvent', {
  at: Time,
  type: Type.Enum(incidentEventTypes, { type: 'string' }),
  by: textOrNull('admin', 'Who did it: a user, `key:NAME`, or the sender of an alert.'),
  level: orNull(Level, 'The level from then on.'),
  alert: orNull(Id, 'The id of the alert that it came with.'),
  comment: textOrNull('on it', 'Their comment.'),
  until: orNull(Time, 'When the acknowledgement ends.'),
  reason: orNull(
    Type.Enum(resolutionReasons, { type: 'string', examples: ['person'] }),
    'Of `resolved`: who or what has ended it.',
  ),
  task: orNull(Type.Integer({ examples: [2] }), 'The id of the task.'),
  destination: textOrNull('pager', 'Which destination was notified.'),
  what: orNull(
    Type.Enum(notificationKinds, { type: 'string', examples: ['opened'] }),
    'The notification that the destination got.',
  ),
  result: textOrNull('delivered', 'What came of it: `delivered`, or why it was given up.'),
});
export type IncidentEvent = Static<typeof IncidentEvent>;

export const IncidentAlert = defineShape('IncidentAlert', {
  seq: Type.Integer({ description: 'Its place in the log of alerts.', examples: [1042] }),
  id: Id,
  time: orNull(Time, 'When it was received.'),
  format: text('alertmanager', 'The format it came in; `native` for `POST /api/alert`.'),
  status: textOrNull('firing', '`firing` or `resolved`.'),
  level: text('crit', 'As it was sent.'),
  severity: Type.Enum(severities, { type: 'string', examples: ['CRITICAL'], description: 'What the level means.' }),
  message: text('disk is full', ''),
  source: text('backup', ''),
  hostname: text('web-1', ''),
  labels: orNull(Type.Record(Type.String(), Type.String({ examples: ['db'] })), 'Its labels.'),
  link: textOrNull('https://grafana.example.org/alerting', 'Where its sender shows it.'),
  details: textOrNull('92 % of 50 GB are used', 'Further text from its sender.'),
});
export type IncidentAlert = Static<typeof IncidentAlert>;

export const IncidentDetails = defineShape('IncidentDetails', {
  ...incident,
  timeline: Type.Array(IncidentEvent, { description: 'The last 200 events, oldest first.' }),
  lastAlert: orNull(IncidentAlert, 'Its latest alert, unless that was deleted.'),
  details: textOrNull(
    'Delete old dumps',
    'Further text of its latest alert that fires: what to do, or the end of the output of a job.',
  ),
  notifications: Type.Array(IncidentNotification, {
    description: 'The last and next notification of each destination.',
  }),
});

export const IncidentPage = defineShape('IncidentPage', {
  count: Type.Integer({ description: 'Incidents in `data`.', examples: [1] }),
  total: Type.Integer({ description: 'Number of matches on all pages.', examples: [1] }),
  data: Type.Array(Incident, { description: 'The one that changed last comes first.' }),
  next: orNull(Type.Integer({ examples: [992] }), 'The `before` of the next page.'),
});

export const IncidentAlertPage = defineShape('IncidentAlertPage', {
  count: Type.Integer({ description: 'Alerts in `data`.', examples: [1] }),
  data: Type.Array(IncidentAlert, { description: 'Newest first.' }),
  next: orNull(Type.Integer({ examples: [992] }), 'The `before` of the next page.'),
});

export const IncidentParams = Type.Object({
  id: Type.String({ description: 'Id of an incident, or its number.', examples: ['412'] }),
});

export const IncidentQuery = Type.Object({
  state: Type.Enum(['active', ...incidentStates, 'all'], {
    type: 'string',
    default: 'active',
    description: 'Only incidents in this state; `active` is open or acknowledged.',
  }),
  level: Type.Optional(Type.Enum(severities, { type: 'string', description: 'Only incidents of this severity.' })),
  source: optionalText('Only this source, in any case; `*` stands for any text.', 'backup*'),
  hostname: optionalText('Only this host name, in any case; `*` stands for any text.', 'web-*'),
  q: optionalText('Only titles with this text, in any case, or the number `#412`.', 'disk'),
  since: optionalText('Only incidents with an alert at this time or later, RFC 3339.', example),
  until: optionalText('Only incidents that began before this time, RFC 3339.', example),
  ...pagingQuery('incidents'),
});
export type IncidentQuery = Static<typeof IncidentQuery>;

export const IncidentAlertQuery = Type.Object({
  ...pagingQuery('alerts', 'Only alerts before this `seq`: the `next` of a page.'),
});

const comment = Type.String({
  minLength: 1,
  maxLength: longestComment,
  description: `At most ${longestComment} characters.`,
  examples: ['the disk is being replaced'],
});
const until = Type.String({
  description: 'When it opens again by itself, RFC 3339 with offset; never by default.',
  examples: ['2036-01-31T08:30:00Z'],
});
const ids = Type.Array(Type.String({ description: 'Ids or numbers.', examples: ['412'] }), {
  minItems: 1,
  maxItems: mostIds,
});

export const Acknowledgement = defineShape('Acknowledgement', {
  comment: Type.Optional(comment),
  until: Type.Optional(until),
});

export const IncidentResolution = defineShape('IncidentResolution', { comment: Type.Optional(comment) });

export const NewComment = defineShape('IncidentComment', { comment });

export const BulkAcknowledgement = defineShape('BulkAcknowledgement', { ids, ...Acknowledgement.properties });

export const BulkResolution = defineShape('BulkResolution', { ids, ...IncidentResolution.properties });

export const BulkResult = defineShape('BulkResult', {
  count: Type.Integer({ description: 'Results in `data`.', examples: [1] }),
  data: Type.Array(
    defineShape('IncidentResult', {
      id: Type.String({ description: 'As it was given.', examples: ['412'] }),
      status: Type.Integer({ description: '200, or what its own request would have got.', examples: [200] }),
      incident: orNull(Incident, 'As it is now.'),
      error: textOrNull('Incident 412 not found', 'Why it was not changed.'),
    }),
    { description: 'One result for each id, in their order.' },
  ),
});
