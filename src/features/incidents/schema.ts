import Type, { type Static } from 'typebox';
import {
  addressReasons,
  IncidentCause,
  incidentFacts,
  incidentStates,
  notificationKinds,
  resolutionReasons,
  SharedIncident,
  textOrNull,
} from '../../kit/incident.ts';
import { IncidentEscalation, IncidentNotification } from '../../kit/incident-responses.ts';
import { severities } from '../../kit/severity.ts';
import { defineShape, optionalText, orNull, pagingQuery } from '../../kit/shape.ts';
import { Time } from '../../kit/time.ts';

const incidentEventTypes = [
  'opened',
  'raised',
  'lowered',
  'acknowledged',
  'snoozeEnded',
  'comment',
  'silenced',
  'inhibited',
  'notified',
  'reminder',
  'escalated',
  'addressed',
  'taskCreated',
  'snapshotTaken',
  'resolved',
  'reopened',
] as const;

/** Maximum length in characters of a comment, and maximum number of ids per request. */
const maxCommentLength = 4000;
const maxIds = 500;

const exampleTime = '2026-01-31T08:30:00.000Z';
const text = (example: string, description: string) => Type.String({ description, examples: [example] });

const incident = {
  ...incidentFacts,
  silencedBy: Type.Array(Type.String({ examples: ['019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c56'] }), {
    description: 'Ids of the silences that match the incident now, so that nobody is notified.',
  }),
  cause: orNull(
    IncidentCause,
    'Incident that is the cause of this incident and suppresses its notifications. A resolved incident keeps its last cause.',
  ),
  task: SharedIncident.properties.task,
  responders: Type.Array(Type.String({ examples: ['ben'] }), { description: 'Users who were asked to help.' }),
  snapshot: orNull(Time, 'Time at which the picture of the machine was taken: `GET /api/incidents/{id}/snapshot`.'),
};

export const Incident = defineShape('Incident', incident);
export type Incident = Static<typeof Incident>;

export const IncidentEvent = defineShape('IncidentEvent', {
  at: Time,
  type: Type.Enum(incidentEventTypes, { type: 'string' }),
  by: textOrNull('admin', 'Author: a user, `key:NAME`, or the sender of an alert.'),
  level: orNull(
    Type.Enum(severities, { type: 'string', examples: ['ERROR'] }),
    'Level of the incident after the event.',
  ),
  alert: orNull(incident.id, 'Id of the alert that caused the event.'),
  comment: textOrNull('on it', 'Comment of the author.'),
  until: orNull(Time, 'End of the acknowledgement.'),
  reason: orNull(
    Type.Enum(resolutionReasons, { type: 'string', examples: ['person'] }),
    'Cause of a resolution: a person, the sender, or `quiet` if no more alerts were received.',
  ),
  task: orNull(Type.Integer({ examples: [2] }), 'Id of the created task.'),
  destination: textOrNull('pager', 'Destination that was notified.'),
  what: orNull(Type.Enum(notificationKinds, { type: 'string', examples: ['opened'] }), 'Kind of the notification.'),
  result: textOrNull('delivered', '`delivered`, or the reason for giving up.'),
  targets: orNull(
    Type.Array(Type.String({ examples: ['person:anna'] })),
    'People and destinations that an `addressed` event notifies: `person:NAME` or `destination:NAME`.',
  ),
  cause: orNull(
    Type.Enum(addressReasons, { type: 'string', examples: ['step'] }),
    'Reason for `addressed`: a step of the escalation policy, or a request from a person.',
  ),
  policy: textOrNull('ops', 'Escalation policy of the step.'),
  step: orNull(Type.Integer({ examples: [2] }), 'Number of the step.'),
  round: orNull(Type.Integer({ examples: [1] }), 'Number of the round, starting at 1.'),
});
export type IncidentEvent = Static<typeof IncidentEvent>;

export const IncidentAlert = defineShape('IncidentAlert', {
  seq: Type.Integer({ description: 'Sequence number in the alert log.', examples: [1042] }),
  id: incident.id,
  time: orNull(Time, 'Time of receipt.'),
  format: text('alertmanager', 'Format of the request; `native` for `POST /api/alert`.'),
  status: textOrNull('firing', '`firing` or `resolved`.'),
  level: text('crit', 'Level as sent.'),
  severity: Type.Enum(severities, { type: 'string', examples: ['CRITICAL'], description: 'Severity of the level.' }),
  message: text('disk is full', ''),
  source: text('backup', ''),
  hostname: text('web-1', ''),
  labels: orNull(Type.Record(Type.String(), Type.String({ examples: ['db'] })), 'Labels of the alert.'),
  link: textOrNull('https://grafana.example.org/alerting', "The sender's page about the alert."),
  details: textOrNull('92 % of 50 GB are used', 'Additional text from the sender.'),
});
export type IncidentAlert = Static<typeof IncidentAlert>;

export const IncidentDetails = defineShape('IncidentDetails', {
  ...incident,
  timeline: Type.Array(IncidentEvent, { description: 'The last 200 events, oldest first.' }),
  lastAlert: orNull(IncidentAlert, 'Latest alert, unless deleted.'),
  details: textOrNull(
    'Delete old dumps',
    'Additional text of the latest firing alert, such as instructions or the last output of a job.',
  ),
  escalation: orNull(IncidentEscalation, 'Progress in the escalation policy.'),
  responsible: Type.Array(Type.String({ examples: ['person:anna'] }), {
    description:
      'People and destinations responsible now: the author of the acknowledgement, or the targets of the latest step.',
  }),
  notifications: Type.Array(IncidentNotification, {
    description: 'Last and next notification of each destination.',
  }),
});

const nextPage = orNull(Type.Integer({ examples: [992] }), 'Value of `before` for the next page.');

export const IncidentPage = defineShape('IncidentPage', {
  count: Type.Integer({ description: 'Number of incidents in `data`.', examples: [1] }),
  total: Type.Integer({ description: 'Number of matches on all pages.', examples: [1] }),
  data: Type.Array(Incident, { description: 'Most recently changed first.' }),
  next: nextPage,
});

export const IncidentAlertPage = defineShape('IncidentAlertPage', {
  count: Type.Integer({ description: 'Number of alerts in `data`.', examples: [1] }),
  data: Type.Array(IncidentAlert, { description: 'Newest first.' }),
  next: nextPage,
});

export const IncidentParams = Type.Object({
  id: Type.String({ description: 'Id or number of an incident.', examples: ['412'] }),
});

export const IncidentQuery = Type.Object({
  state: Type.Enum(['active', ...incidentStates, 'all'], {
    type: 'string',
    default: 'active',
    description: 'Only incidents in this state; `active` is open or acknowledged.',
  }),
  level: Type.Optional(Type.Enum(severities, { type: 'string', description: 'Only incidents of this severity.' })),
  source: optionalText('Only incidents with this source, ignoring case; `*` matches any text.', 'backup*'),
  hostname: optionalText(
    'Only incidents with this host name, ignoring case; `*` matches any text. The name of a host includes its aliases.',
    'web-*',
  ),
  q: optionalText(
    'Only incidents whose title contains this text, ignoring case; or only the incident with this number, such as `#412`.',
    'disk',
  ),
  mine: Type.Optional(
    Type.Enum(['true', 'false'], {
      type: 'string',
      description:
        'Only incidents that you acknowledged, that you respond to, or whose current escalation step notifies you. Needs a login.',
    }),
  ),
  since: optionalText('Only incidents with an alert at this time or later, RFC 3339.', exampleTime),
  until: optionalText('Only incidents that began before this time, RFC 3339.', exampleTime),
  ...pagingQuery('incidents'),
});
export type IncidentQuery = Static<typeof IncidentQuery>;

export const IncidentAlertQuery = Type.Object({
  ...pagingQuery('alerts', 'Only alerts before this `seq`; pass the `next` of the previous page.'),
});

const comment = Type.String({
  minLength: 1,
  maxLength: maxCommentLength,
  description: `At most ${maxCommentLength} characters.`,
  examples: ['the disk is being replaced'],
});
const until = Type.String({
  description:
    'Time at which the acknowledgement ends and the incident reopens, RFC 3339 with offset; never by default.',
  examples: ['2036-01-31T08:30:00Z'],
});
const ids = Type.Array(Type.String({ description: 'Ids or numbers.', examples: ['412'] }), {
  minItems: 1,
  maxItems: maxIds,
});

export const Acknowledgement = defineShape('Acknowledgement', {
  comment: Type.Optional(comment),
  until: Type.Optional(until),
});

export const IncidentResolution = defineShape('IncidentResolution', { comment: Type.Optional(comment) });

export const TakingOver = defineShape('TakingOver', { comment: Type.Optional(comment) });

export const NewResponders = defineShape('NewResponders', {
  people: Type.Array(Type.String({ description: 'Names of users.', examples: ['ben'] }), { minItems: 1, maxItems: 50 }),
  comment: Type.Optional(comment),
});

export const NewComment = defineShape('IncidentComment', { comment });

export const BulkAcknowledgement = defineShape('BulkAcknowledgement', { ids, ...Acknowledgement.properties });

export const BulkResolution = defineShape('BulkResolution', { ids, ...IncidentResolution.properties });

export const BulkResult = defineShape('BulkResult', {
  count: Type.Integer({ description: 'Number of results in `data`.', examples: [1] }),
  data: Type.Array(
    defineShape('IncidentResult', {
      id: Type.String({ description: 'Id or number, as in the request.', examples: ['412'] }),
      status: Type.Integer({
        description: 'HTTP status that a request for this incident alone would get.',
        examples: [200],
      }),
      incident: orNull(Incident, 'Current state of the incident.'),
      error: textOrNull('Incident 412 not found', 'Reason why the incident was not changed.'),
    }),
    { description: 'One result for each id, in the order of the request.' },
  ),
});
