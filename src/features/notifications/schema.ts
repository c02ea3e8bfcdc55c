import Type, { type Static } from 'typebox';
import { notificationEvents } from '../../kit/incident.ts';
import { NextNotification, ShownNotification } from '../../kit/incident-responses.ts';
import { severities } from '../../kit/severity.ts';
import { defineShape, nullable, optionalText, pagingQuery } from '../../kit/shape.ts';
import { Time } from '../../kit/time.ts';

const time = (description: string) => nullable(Time, description);

const count = (description: string) => Type.Integer({ description, examples: [0] });

const textOrNull = (description: string, example: string) =>
  nullable(Type.String({ examples: [example] }), description);

/** Fields of a listed alert that come from the log. */
const glance = {
  severity: nullable(
    Type.Enum([...severities], { type: 'string', examples: ['ERROR'] }),
    '`null`, like `source` and `message`, if the alert is no longer in the log.',
  ),
  source: textOrNull('', 'backup'),
  message: textOrNull('First 500 characters of the message.', 'disk is full'),
};

const id = Type.String({
  format: 'uuid',
  description: "The alert's id.",
  examples: ['019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c55'],
});

const ParkedAlert = defineShape('ParkedAlert', {
  id,
  time: Type.String({ ...Time, description: 'Time at which the alert was given up.' }),
  reason: Type.String({ examples: ['the receiver responded 400'] }),
  ...glance,
});

const WaitingAlert = defineShape('WaitingAlert', {
  id,
  time: Type.String({ ...Time, description: 'Time of receipt.' }),
  ...glance,
  attempts: count('Failed attempts.'),
  nextAttempt: time('Time of the next attempt; `null` while the alert is being sent.'),
});

const WaitingNotification = defineShape('WaitingNotice', {
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

/** Settings of a destination that concern incidents, with their defaults. */
const IncidentRulesShown = defineShape('DestinationIncidentRules', {
  on: Type.Array(Type.Enum(notificationEvents, { type: 'string', examples: ['opened'] })),
  after: Type.Number({
    examples: [15],
    description: 'Minutes for which the incident must have been open and not acknowledged.',
  }),
  repeat: nullable(Type.Number({ examples: [30] }), 'Minutes between reminders; `null` without reminders.'),
  groupSeconds: Type.Number({ examples: [10] }),
  hours: textOrNull(
    'Hours in which open incidents notify the destination; `null` for always.',
    'Mon-Fri 08:00-18:00 Europe/Berlin',
  ),
  hoursExcept: Type.Array(Type.Enum([...severities], { type: 'string', examples: ['CRITICAL'] }), {
    description: 'Severities of incidents that do not wait for `hours`.',
  }),
});

export const DestinationState = defineShape('DestinationState', {
  destination: Type.String({ description: 'Name of the destination.', examples: ['pager'] }),
  type: Type.String({ examples: ['webhook'] }),
  address: Type.String({
    description: 'Scheme, host and port of the URL.',
    examples: ['https://ntfy.example.org'],
  }),
  notify: Type.Enum(['alerts', 'incidents'], {
    type: 'string',
    description: '`alerts`: each alert. `incidents`: messages about incidents.',
  }),
  incidents: nullable(
    IncidentRulesShown,
    'Rules for notifications of incidents; `null` if the destination gets every alert.',
  ),
  repeatMinutes: Type.Number({
    examples: [240],
    description: 'Minutes after which a repeated alert is sent again; 0 for never.',
  }),
  filter: defineShape('DestinationFilter', {
    levels: listOrNull('CRITICAL'),
    sources: listOrNull('backup/*'),
    formats: listOrNull('alertmanager'),
  }),
  state: Type.Enum(['idle', 'delivering', 'waiting', 'failing'], {
    type: 'string',
    description:
      '`waiting`: an alert was not delivered and is retried later. `failing`: the receiver rejects every message, or has accepted no message for several minutes.',
  }),
  failingSince: time('Time at which the destination began to fail.'),
  lagAlerts: count('Number of alerts in the log that are not yet delivered, given up or skipped.'),
  lagSeconds: Type.Number({
    examples: [0],
    description: 'Age of the oldest waiting alert; 0 if no alert is waiting.',
  }),
  lastSuccess: time('Last delivery since the server was started.'),
  lastError: nullable(DeliveryError, 'Last failure since the server was started.'),
  nextAttempt: time('Time of the next retry.'),
  lagIncidents: count('Incidents for which a notification is due now.'),
  waitingNotices: Type.Array(WaitingNotification, {
    description: 'First 100 scheduled notifications, earliest first. Changes to incidents can change the schedule.',
  }),
  waitingAlerts: Type.Array(WaitingAlert, { description: 'First 100 waiting alerts, oldest first.' }),
  parked: count('Alerts that were given up.'),
  parkedAlerts: Type.Array(ParkedAlert, { description: 'Last 100 alerts that were given up, oldest first.' }),
  dropped: count('Alerts that were deleted from the log before they were delivered or skipped.'),
});
export type DestinationState = Static<typeof DestinationState>;

export const DeliveryList = defineShape('DeliveryList', {
  count: count('Number of destinations in `data`.'),
  data: Type.Array(DestinationState),
  quiet: Type.Boolean({
    description: 'True if the setting `quiet` is on: nothing is sent, and destinations are not listed.',
    examples: [false],
  }),
});

export const RetryResult = defineShape('RetryResult', {
  delivered: Type.Boolean({ examples: [true] }),
  reason: nullable(
    Type.String({ examples: ['the receiver responded 400'] }),
    'Reason why the notification was not delivered.',
  ),
});

export const TestResult = defineShape('TestResult', {
  delivered: Type.Boolean({ examples: [true] }),
  response: Type.String({
    description: "The receiver's status and response, without secrets, or the reason why there was no response.",
    examples: ['200\nok'],
  }),
});

const destination = Type.String({ description: 'Name of a destination.' });

export const RetryParams = Type.Object({
  destination,
  id: Type.String({
    description: 'Id of a waiting or given-up alert, or of an incident for which a notification is due.',
  }),
});

export const DestinationParams = Type.Object({ destination });

export const RetryAllResult = defineShape('RetryAllResult', {
  destination: Type.String({ examples: ['pager'] }),
  parked: count('Number of alerts that were given up and are now waiting again.'),
  waiting: count('Number of all waiting alerts or incidents, including the alerts in `parked`.'),
});

export const SentQuery = Type.Object({
  destination: optionalText('Only notifications to this destination.', 'pager'),
  incident: optionalText('Only notifications of this incident, by id or number.', '412'),
  ...pagingQuery('notifications'),
});

export const SentPage = defineShape('SentNotificationPage', {
  count: count('Number of notifications in `data`.'),
  data: Type.Array(ShownNotification, { description: 'Newest first; without a database, the last 10,000 are kept.' }),
  next: nullable(Type.Integer({ examples: [992] }), 'Value of `before` for the next page.'),
});
