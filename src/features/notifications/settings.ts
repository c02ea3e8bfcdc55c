import type { Static } from 'typebox';
import Type from 'typebox';
import { HttpError } from '../../http/errors.ts';
import { notificationEvents } from '../../kit/incident.ts';
import { publicUrlSetting } from '../../kit/public-url.ts';
import { alertmanagerDestination } from './destinations/alertmanager.ts';
import { appriseDestination } from './destinations/apprise.ts';
import { emailDestination } from './destinations/email.ts';
import { gotifyDestination } from './destinations/gotify.ts';
import { ntfyDestination } from './destinations/ntfy.ts';
import { slackDestination } from './destinations/slack.ts';
import { templateDestination } from './destinations/template.ts';
import { type DestinationType, ownSettings } from './destinations/type.ts';
import { webhookDestination } from './destinations/webhook.ts';
import { outboxSettings } from './forwarder/settings.ts';

/** Every type of destination. */
export const destinationTypes: readonly DestinationType[] = [
  webhookDestination,
  ntfyDestination,
  gotifyDestination,
  slackDestination,
  appriseDestination,
  alertmanagerDestination,
  emailDestination,
  templateDestination,
];

/** Maximum number of destinations, counting both the config file and runtime settings. */
export const mostDestinations = 100;

const oneOrTwo = (example: string, description: string) => {
  const one = Type.String({ minLength: 1, examples: [example] });
  return Type.Union([one, Type.Array(one, { minItems: 1, maxItems: 2 })], { description });
};

const texts = (example: string, description: string) =>
  Type.Array(Type.String({ minLength: 1, examples: [example] }), { minItems: 1, description });

/** Pattern for names of destinations. These names appear in file names and paths. */
export const destinationNamePattern = '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$';

/** Throws an HttpError for a name that a destination cannot have. `noun` names the kind of thing in the message. */
export const assertDestinationName = (noun: string, name: string): void => {
  if (new RegExp(destinationNamePattern).test(name)) return;
  throw new HttpError(
    'invalid',
    `The name of a ${noun} must consist of up to 64 letters, digits, "_" and "-", and begin with a letter or digit`,
  );
};

const HeaderValue = Type.Union(
  [
    Type.String({ minLength: 1, examples: ['team-a'] }),
    Type.Object({ variable: Type.String({ minLength: 1, examples: ['PAGER_TEAM'] }) }, { additionalProperties: false }),
    Type.Object(
      { file: Type.String({ minLength: 1, examples: ['/etc/signalbox/team'] }) },
      { additionalProperties: false },
    ),
  ],
  { description: 'a string, {"variable": "NAME"} or {"file": "PATH"}' },
);

/** Entry in the setting `destinations`. Type and URL are checked later. Errors then name the destination. */
export const DestinationSettings = Type.Object(
  {
    name: Type.String({
      pattern: destinationNamePattern,
      examples: ['pager'],
      description: 'Up to 64 letters, digits, `_` and `-`.',
    }),
    type: Type.String({
      examples: ['webhook'],
      description: `One of ${destinationTypes.map(({ name }) => name).join(', ')}.`,
    }),
    url: Type.String({
      examples: ['https://pager.example.org/alerts'],
      description: 'URL of the receiver: http or https, for `email` smtp or smtps.',
    }),
    secret: Type.Optional(
      oneOrTwo('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'The secret, or the current and the previous secret.'),
    ),
    secretFile: Type.Optional(oneOrTwo('/etc/signalbox/pager.secret', 'File with the secret, instead of `secret`.')),
    token: Type.Optional(
      Type.String({ minLength: 1, examples: ['t0k3n'], description: 'Sent as `Authorization: Bearer`.' }),
    ),
    tokenFile: Type.Optional(
      Type.String({
        minLength: 1,
        examples: ['/etc/signalbox/pager.token'],
        description: 'File with the token, instead of `token`.',
      }),
    ),
    headers: Type.Optional(
      Type.Record(Type.String(), HeaderValue, {
        maxProperties: 16,
        description: 'Additional headers: a string, or the variable or file that contains the string.',
      }),
    ),
    ca: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100_000,
        examples: ['-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----'],
        description: 'Additional trusted CAs, in PEM.',
      }),
    ),
    caFile: Type.Optional(
      Type.String({
        minLength: 1,
        examples: ['/etc/ssl/own-ca.pem'],
        description: 'File with additional CAs, instead of `ca`; only in the config file.',
      }),
    ),
    ...ownSettings,
    notify: Type.Optional(
      Type.Enum(['alerts', 'incidents'], {
        type: 'string',
        description: '`alerts`, the default, sends each alert; `incidents` sends messages about incidents.',
      }),
    ),
    on: Type.Optional(
      Type.Array(Type.Enum(notificationEvents, { type: 'string' }), {
        minItems: 1,
        uniqueItems: true,
        description: 'Events of an incident that send a notification; opened, raised and resolved by default.',
      }),
    ),
    after: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 7 * 24 * 60,
        examples: [15],
        description: 'Minutes for which an incident must have been open and not acknowledged; 0 by default.',
      }),
    ),
    repeat: Type.Optional(
      Type.Number({
        minimum: 0.01,
        maximum: 7 * 24 * 60,
        examples: [60],
        description:
          'Minutes between two reminders while an incident is open and not acknowledged; no reminders by default.',
      }),
    ),
    groupSeconds: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 3600,
        examples: [10],
        description:
          'Seconds for which notifications are collected for one message, 10 by default; 0 sends each immediately.',
      }),
    ),
    hours: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        examples: ['Mon-Fri 08:00-18:00 Europe/Berlin'],
        description:
          'Hours in which open incidents notify the destination, such as `Mon-Fri 08:00-18:00 Europe/Berlin`; always by default.',
      }),
    ),
    hoursExcept: Type.Optional(
      texts('CRITICAL', 'Severities of incidents that do not wait for `hours`; CRITICAL by default.'),
    ),
    levels: Type.Optional(
      texts(
        'CRITICAL',
        'Send only alerts or incidents with these severities: CRITICAL, ERROR, WARNING, INFO, or other names of these severities.',
      ),
    ),
    sources: Type.Optional(texts('backup*', 'Send only alerts or incidents with these sources; `*` matches any text.')),
    formats: Type.Optional(
      texts('grafana', 'Send only alerts received in these formats; the format of POST /api/alert is `native`.'),
    ),
    retrySeconds: Type.Optional(
      Type.Array(Type.Number({ minimum: 0, maximum: 7 * 24 * 3600, examples: [30] }), {
        maxItems: 100,
        description:
          'Seconds to wait after each failed attempt, instead of the default backoff; after the last attempt the alert is given up.',
      }),
    ),
    giveUpHours: Type.Optional(
      Type.Number({
        minimum: 0.0001,
        maximum: 720,
        examples: [24],
        description: 'Hours of failed attempts after which an alert is given up; 24 by default.',
      }),
    ),
    timeoutSeconds: Type.Optional(
      Type.Number({
        minimum: 0.1,
        maximum: 600,
        examples: [60],
        description:
          'Seconds to wait for the response of the receiver; by default 15, for `apprise` and `template` 60, for `email` 120.',
      }),
    ),
    repeatMinutes: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 7 * 24 * 60,
        examples: [240],
        description: 'Minutes after which a repeated alert is sent again, 240 by default; 0 for never.',
      }),
    ),
    concurrency: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 8,
        examples: [1],
        description:
          'Maximum number of concurrent requests; by default 8 for incidents and 1 for alerts, raised while requests take over a second.',
      }),
    ),
    startAt: Type.Optional(
      Type.Enum(['now', 'oldest'], {
        type: 'string',
        description: 'First alert for a new destination: the next alert, or the oldest alert in the log.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type DestinationSettings = Static<typeof DestinationSettings>;

export const notificationSettings = {
  destinations: Type.Array(DestinationSettings, {
    default: [],
    maxItems: mostDestinations,
    writeOnly: true,
    description: 'Destinations of alerts and notifications: name, type, url and more; see docs/guides/destinations.',
  }),
  ...publicUrlSetting,
  quiet: Type.Boolean({
    default: false,
    description:
      'Send nothing to any destination, for example on a restored copy. A later start without `quiet` sends everything that is due.',
  }),
  ...outboxSettings,
};

export type NotificationSettings = Static<ReturnType<typeof Type.Object<typeof notificationSettings>>>;
