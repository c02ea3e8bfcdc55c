import Type, { type Static } from 'typebox';
import { settingFacts } from '../../../kit/setting-kind.ts';
import { severities } from '../../../kit/severity.ts';
import { defineList, defineShape, nullable } from '../../../kit/shape.ts';
import { Time } from '../../../kit/time.ts';
import { ownSettings } from '../destinations/type.ts';
import { DestinationSettings, destinationNamePattern } from '../settings.ts';

const { type, url, secret, token, ca, levels, sources, groupSeconds, timeoutSeconds } = DestinationSettings.properties;

const name = Type.String({
  pattern: destinationNamePattern,
  examples: ['phone'],
  description: 'Up to 64 letters, digits, `_` and `-`.',
});

/** Settings of a contact method that are shown in responses. */
const shown = {
  type,
  ca,
  ...ownSettings,
  levels,
  sources,
  groupSeconds,
  timeoutSeconds,
  delay: Type.Optional(
    Type.String({
      maxLength: 20,
      examples: ['5 minutes'],
      description: 'Time to wait before this contact method is used, in seconds, minutes or hours; none by default.',
    }),
  ),
};

/** Request body for a contact method: the settings of its destination type, and its delay. */
export const WayBody = Type.Object(
  {
    name: Type.Optional(name),
    ...shown,
    url: Type.Optional({
      ...url,
      description: 'URL of the receiver. For `email`, by default the server of a destination of type `email`.',
    }),
    secret,
    token,
    headers: Type.Optional(
      Type.Record(Type.String(), Type.String({ examples: ['team-a'] }), {
        maxProperties: 16,
        description: 'Additional headers.',
      }),
    ),
  },
  { title: 'WayBody' },
);
export type WayBody = Static<typeof WayBody>;

export const ShownWay = defineShape('Way', {
  person: Type.String({ examples: ['anna'] }),
  name,
  settings: Type.Object(
    { ...shown, url: nullable(url, 'URL without the path, which may be secret.') },
    { title: 'WaySettings', description: 'Settings as in the request, without secrets.' },
  ),
  hidden: Type.Array(Type.Enum(['url', 'secret', 'token', 'headers'], { type: 'string', examples: ['secret'] }), {
    description: 'Names of settings that have a value but are not shown, such as secrets.',
  }),
  provenAt: nullable(Time, 'Time at which the person confirmed a test; `null` if no test was confirmed.'),
  problem: nullable(Type.String({ examples: ['url is required'] }), 'Reason why the contact method cannot be used.'),
  ...settingFacts,
});
export type ShownWay = Static<typeof ShownWay>;

const timeZone = Type.Optional(
  Type.String({
    maxLength: 64,
    examples: ['Europe/Berlin'],
    description: 'Time zone of the person; by default the time zone of the server.',
  }),
);
const quietHours = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 500,
    examples: ['22:00-07:00'],
    description:
      'Hours in which notifications wait, such as `Mon-Fri 22:00-07:00, Sat-Sun 22:00-09:00`; none by default.',
  }),
);
const quietExcept = Type.Optional(
  Type.Array(Type.String({ minLength: 1, maxLength: 64, examples: ['CRITICAL'] }), {
    maxItems: 8,
    description: `Severities that notify during quiet hours: ${severities.join(', ')}; CRITICAL by default.`,
  }),
);

export const PersonBody = Type.Object({ timeZone, quietHours, quietExcept }, { title: 'PersonBody' });

export const Person = defineShape('Person', {
  name: Type.String({ examples: ['anna'] }),
  timeZone,
  quietHours,
  quietExcept,
  ways: Type.Array(ShownWay, { description: 'Contact methods of the person, shortest delay first.' }),
  ...settingFacts,
});

export const PersonList = defineList(
  'PersonList',
  'People',
  defineShape('PersonSummary', {
    name: Type.String({ examples: ['anna'] }),
    ways: Type.Integer({ description: 'Number of contact methods.', examples: [2] }),
    proven: Type.Integer({ description: 'Number of contact methods with a confirmed test.', examples: [1] }),
  }),
  'All users, sorted by name.',
);

const person = Type.String({ description: 'Name of a user, or `me`.', examples: ['me'] });

export const PersonParams = Type.Object({ person });

export const WayParams = Type.Object({
  person,
  way: Type.String({ description: 'Name of a contact method.', examples: ['phone'] }),
});

export const Confirmation = defineShape('WayConfirmation', {
  code: Type.String({ maxLength: 20, examples: ['412 806'], description: 'Code in the test notification.' }),
});
