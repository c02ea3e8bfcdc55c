import Type, { type Static } from 'typebox';
import { destinationNamePattern } from '../settings.ts';

/** Schema options for the name of a user. */
const personName = { minLength: 1, maxLength: 64, examples: ['anna'] };

const from = Type.Optional(
  Type.String({ maxLength: 40, examples: ['2026-01-05'], description: 'Start: a date in the time zone, or a time.' }),
);

const until = Type.Optional(
  Type.String({ maxLength: 40, examples: ['2026-04-05'], description: 'End, exclusive: a date or a time.' }),
);

const LayerPerson = Type.Object(
  { name: Type.String({ ...personName, description: 'A user.' }), from, until },
  { additionalProperties: false, description: 'A user, with optional dates of joining and leaving.' },
);

const HandoverSettings = Type.Object(
  {
    every: Type.String({
      minLength: 1,
      maxLength: 200,
      examples: ['1 week'],
      description: 'Period in hours, days or weeks, such as `12 hours`; or a cron expression, at most hourly.',
    }),
    at: Type.Optional(
      Type.String({
        maxLength: 20,
        examples: ['Mon 09:00'],
        description: 'Time of handovers, with the weekday for weeks. Default: `Mon 09:00`, or `09:00`.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type HandoverSettings = Static<typeof HandoverSettings>;

const LayerSettings = Type.Object(
  {
    people: Type.Array(Type.Union([Type.String(personName), LayerPerson]), {
      maxItems: 64,
      description: 'Users in the order of their shifts: names, or objects with `name`, `from` and `until`.',
    }),
    handover: HandoverSettings,
    hours: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        examples: ['Mon-Fri 08:00-18:00'],
        description: 'Hours in which the layer applies; always by default.',
      }),
    ),
    from,
    until,
  },
  { additionalProperties: false },
);
export type LayerSettings = Static<typeof LayerSettings>;

const name = Type.String({
  pattern: destinationNamePattern,
  examples: ['ops'],
  description: 'Up to 64 letters, digits, `_` and `-`.',
});

/** Fields of a rotation, in requests and in the config file. */
export const rotationMembers = {
  timeZone: Type.Optional(
    Type.String({
      maxLength: 100,
      examples: ['Europe/Berlin'],
      description: 'Time zone of handovers, hours and dates; by default, the time zone of the server.',
    }),
  ),
  holidays: Type.Optional(
    Type.Array(Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', examples: ['2036-12-25'] }), {
      maxItems: 400,
      description: 'Dates on which the hours of Sunday apply.',
    }),
  ),
  layers: Type.Array(LayerSettings, {
    minItems: 1,
    maxItems: 16,
    description: 'Layers, lowest first: a later layer overrides earlier layers.',
  }),
};

/** Definition of a rotation of people. */
export type RotationDefinition = Static<ReturnType<typeof Type.Object<typeof rotationMembers>>>;

/**
 * Entry in the setting `rotations`. With `layers`, it is a rotation of people, otherwise a rotation of destinations.
 * Names, cron expressions and times are checked later. Errors then name the rotation.
 */
const RotationSettings = Type.Object(
  {
    name,
    timeZone: rotationMembers.timeZone,
    holidays: rotationMembers.holidays,
    layers: Type.Optional(rotationMembers.layers),
    members: Type.Optional(
      Type.Array(Type.String(), {
        minItems: 1,
        maxItems: 64,
        description: 'Instead of `layers`: destinations with `notify` `incidents`, in the order of their shifts.',
      }),
    ),
    handover: Type.Optional(
      Type.String({
        maxLength: 200,
        description: 'With `members`: cron expression of the handovers, such as `0 9 * * 1`.',
      }),
    ),
    startsAt: Type.Optional(
      Type.String({
        description: "With `members`: date or time after which the first handover starts the first member's shift.",
      }),
    ),
  },
  { additionalProperties: false },
);
export type RotationSettings = Static<typeof RotationSettings>;

/** Settings for rotations and the weekly report, with their defaults. */
export const rotationSettings = {
  rotations: Type.Array(RotationSettings, {
    default: [],
    maxItems: 16,
    description: 'Rotations of people or destinations on call; see docs/guides/oncall.md.',
  }),
  weeklyReport: Type.Boolean({
    default: true,
    description:
      'Send the people of rotations a report on Mondays at 09:00: pages, disturbed nights, and incidents that nobody acted on.',
  }),
};
