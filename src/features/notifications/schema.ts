import Type, { type Static } from 'typebox';
import { NextNotification, notificationKinds } from '../../kit/incident-source.ts';
import { defineShape, nullable, optionalText, pagingQuery, Time } from '../../kit/route.ts';
import { severities } from '../../kit/severity.ts';

const time = (description: string) => nullable(Time, description);

const count = (description: string) => Type.Integer({ description, examples: [0] });

const textOrNull = (description: string, example: string) =>
  nullable(Type.String({ examples: [example] }), description);

/** What the log says of an alert in a list. */
const glance = {
  severity: nullable(
    Type.Enum([...severities], { type: 'string', examples: ['ERROR'] }),
    '`null` if the alert is no longer in the log; so are `source` and `message`.',
  ),
  source: textOrNull('', 'backup'),
  message: textOrNull('Its first 500 characters.', 'disk is full'),
};

const id = Type.String({
  format: 'uuid',
  description: "The alert's id.",
  examples: ['019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c55'],
});

const ParkedAlert = defineShape('ParkedAlert', {
  id,
  time: Type.String({ ...Time, description: 'When it was parked.' }),
  reason: Type.String({ examples: ['the receiver responded 400'] }),
  ...glance,
});

const WaitingAlert = defineShape('WaitingAlert', {
  id,
  time: Type.String({ ...Time, description: 'When it was received.' }),
  ...glance,
  attempts: count('Failed attempts.'),
  nextAttempt: time('When it may be sent; `null` while it is being sent.'),
});

const WaitingNotice = defineShape('WaitingNotice', {
  incident: Type.String({ format: 'uuid', examples: ['019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c55'] }),
  number: Type.Integer({ description: "The incident's number.", examples: [412] }),
  title: Type.String({ examples: ['disk is full'] }),
  level: Type.Enum([...severities], { type: 'string', examples: ['ERROR'] }),
  ...NextNotification.properties,
});

const listOrNull = (example: string) => nullable(Type.Array(Type.String({ examples: [example] })));

const DeliveryError = defineShape('DeliveryError', {
  time: Time,
  reason: Type.String({ examples: ['the connection was refused'] }),
});

/** By its settings, with their defaults. */
const IncidentRulesShown = defineShape('DestinationIncidentRules', {
  on: Type.Array(Type.Enum(notificationKinds, { type: 'string', examples: ['opened'] })),
  after: Type.Number({ examples: [15], description: 'Minutes for which nobody must have taken the incident.' }),
  repeat: nullable(Type.Number({ examples: [30] }), 'Minutes between reminders; `null` without any.'),
  groupSeconds: Type.Number({ examples: [10] }),
  hours: textOrNull('When it may be used; `null` for always.', 'Mon-Fri 08:00-18:00 Europe/Berlin'),
  hoursExcept: Type.Array(Type.Enum([...severities], { type: 'string', examples: ['CRITICAL'] }), {
    description: 'The levels of incidents for which it may be used at any time.',
  }),
});

export const DestinationState = defineShape('DestinationState', {
  destination: Type.String({ description: 'Its name in the config file.', examples: ['pager'] }),
  type: Type.String({ examples: ['webhook'] }),
  address: Type.String({
    description: 'Scheme, host and port of its url.',
    examples: ['https://ntfy.example.org'],
  }),
  notify: Type.Enum(['alerts', 'incidents'], {
    type: 'string',
    description: 'What is sent: each alert, or messages about incidents.',
  }),
  incidents: nullable(IncidentRulesShown, 'When it is notified of incidents; `null` if it gets every alert.'),
  repeatMinutes: Type.Number({
    examples: [240],
    description: 'After so many minutes an alert that keeps coming again is sent again; 0: never.',
  }),
  filter: defineShape('DestinationFilter', {
    levels: listOrNull('CRITICAL'),
    sources: listOrNull('backup/*'),
    formats: listOrNull('alertmanager'),
  }),
  state: Type.Enum(['idle', 'delivering', 'waiting', 'failing'], {
    type: 'string',
    description:
      '`waiting`: an alert failed and is tried again later. `failing`: the receiver refuses whatever the destination sends, or accepts nothing for minutes.',
  }),
  failingSince: time('Since when it is failing.'),
  lagAlerts: count('Alerts in the log that the destination has not finished with.'),
  lagSeconds: Type.Number({
    examples: [0],
    description: 'Age of the oldest alert that waits; 0 if none does.',
  }),
  lastSuccess: time('Last delivery since the server was started.'),
  lastError: nullable(DeliveryError, 'Last failure since the server was started.'),
  nextAttempt: time('When an alert that failed is tried again.'),
  lagIncidents: count('Incidents for which a notification is due now.'),
  waitingNotices: Type.Array(WaitingNotice, {
    description: 'The next notifications, unless something happens before: the first 100, earliest first.',
  }),
  waitingAlerts: Type.Array(WaitingAlert, { description: 'The first 100 that wait, oldest first.' }),
  parked: count('Alerts that were given up.'),
  parkedAlerts: Type.Array(ParkedAlert, { description: 'The last 100 of them, oldest first.' }),
  dropped: count('Alerts that were deleted from the log before they were delivered or skipped.'),
});
export type DestinationState = Static<typeof DestinationState>;

export const DeliveryList = defineShape('DeliveryList', {
  count: count('Destinations in `data`.'),
  data: Type.Array(DestinationState),
  quiet: Type.Boolean({
    description: 'True if the setting `quiet` is on: nothing is sent, and no destination is listed.',
    examples: [false],
  }),
});

export const RetryResult = defineShape('RetryResult', {
  delivered: Type.Boolean({ examples: [true] }),
  reason: nullable(Type.String({ examples: ['the receiver responded 400'] }), 'Why it was not delivered.'),
});

export const TestResult = defineShape('TestResult', {
  delivered: Type.Boolean({ examples: [true] }),
  response: Type.String({
    description: "The receiver's status and response, without secrets, or why there is none.",
    examples: ['200\nok'],
  }),
});

const destination = Type.String({ description: 'Name of a destination.' });

export const RetryParams = Type.Object({
  destination,
  id: Type.String({
    description: 'Id of an alert that is parked or waits, or of an incident for which a notification is due.',
  }),
});

export const DestinationParams = Type.Object({ destination });

export const RetryAllResult = defineShape('RetryAllResult', {
  destination: Type.String({ examples: ['pager'] }),
  parked: count('Alerts that were parked and wait now.'),
  waiting: count('All alerts that the destination has not finished with, these among them.'),
});

export const SentQuery = Type.Object({
  destination: optionalText('Only notifications to this destination.', 'pager'),
  incident: optionalText('Only of this incident: its id or its number.', '412'),
  ...pagingQuery('notifications'),
});

const SentNotice = defineShape('SentNotification', {
  at: Type.String({ ...Time, description: 'When the receiver had it, or it was given up.' }),
  destination: Type.String({ examples: ['pager'] }),
  incident: defineShape('NotifiedIncident', {
    id: Type.String({ format: 'uuid', examples: ['019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c55'] }),
    number: Type.Integer({ examples: [412] }),
    title: Type.String({ examples: ['disk is full'] }),
  }),
  event: Type.Enum(['notified', 'escalated', 'reminder'], {
    type: 'string',
    description: '`escalated`: the destination is notified only if nobody takes the incident.',
  }),
  what: Type.Enum(notificationKinds, { type: 'string', examples: ['opened'] }),
  level: Type.Enum([...severities], { type: 'string', examples: ['ERROR'] }),
  result: Type.String({ description: '`delivered`, or why it was given up.', examples: ['delivered'] }),
});

export const SentPage = defineShape('SentNotificationPage', {
  count: count('Notifications in `data`.'),
  data: Type.Array(SentNotice, { description: 'Newest first; the last 10,000 are kept, without a database.' }),
  next: nullable(Type.Integer({ examples: [992] }), 'The `before` of the next page.'),
});
