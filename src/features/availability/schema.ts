import Type, { type Static } from 'typebox';
import { checkStates } from '../../kit/availability.ts';
import { defineList, defineShape, orNull } from '../../kit/shape.ts';
import { Time } from '../../kit/time.ts';

/** Formula of the percentage. Shown in responses and printed on pages. */
export const percentageRule = '100 × up ÷ (up + down), rounded down; maintenance and unknown time do not count';

const seconds = (description: string, example: number) => Type.Integer({ description, examples: [example] });

const measured = {
  up: seconds('Seconds up.', 86_300),
  down: seconds('Seconds down.', 100),
  maintenance: seconds('Seconds of maintenance, when silences with `maintenance` covered the check.', 0),
  unknown: seconds('Seconds in which the state is unknown, for example because the server was stopped.', 0),
  percentage: orNull(Type.Number({ examples: [99.8842] }), 'Availability in percent.'),
  isExact: Type.Boolean({
    description:
      'False if some seconds are estimated, because the range contains part of a day that is over 100 days old, that has more than 50 state changes, or on which the clock was set back.',
    examples: [true],
  }),
};

const AvailabilityRow = defineShape('AvailabilityDay', {
  day: Type.String({ description: 'Calendar day in `timeZone`.', examples: ['2026-01-31'] }),
  ...measured,
});

export const ShownOutage = defineShape('Outage', {
  startsAt: Time,
  endsAt: orNull(Time, 'End of the outage.'),
  seconds: seconds('Seconds down.', 100),
  count: Type.Integer({
    description: 'Number of outages in this entry; more than 1 only on a day with too many outages to list.',
    examples: [1],
  }),
  cause: orNull(Type.String({ examples: ['https://example.org responded 503'] }), 'Message of the failed check.'),
  incident: orNull(Type.Integer({ examples: [412] }), 'Number of the incident.'),
});
export type ShownOutage = Static<typeof ShownOutage>;

const described = {
  kind: Type.Enum(['watch', 'heartbeat', 'host'], { type: 'string', examples: ['watch'] }),
  name: Type.String({ examples: ['site'] }),
  state: Type.Enum(checkStates, { type: 'string', description: 'Current state.', examples: ['up'] }),
  since: orNull(Time, 'Beginning of the current state.'),
  ...measured,
  outageCount: Type.Integer({
    description: 'Number of outages in the range, including outages that are not listed.',
    examples: [1],
  }),
};

const range = {
  from: Type.String({ ...Time, description: 'Beginning of the range.' }),
  until: Type.String({ ...Time, description: 'End of the range, no later than now.' }),
  timeZone: Type.String({ description: 'Time zone of the days.', examples: ['Europe/Berlin'] }),
  rule: Type.String({ description: 'Formula of the percentage.', examples: [percentageRule] }),
};

export const CheckAvailability = defineShape('CheckAvailability', {
  ...described,
  ...range,
  days: Type.Array(AvailabilityRow, { description: 'Oldest first.' }),
  outages: Type.Array(ShownOutage, { description: 'Newest first, at most 1000.' }),
});
export type CheckAvailability = Static<typeof CheckAvailability>;

const CheckSummary = defineShape('AvailabilitySummary', {
  ...described,
  outages: Type.Array(ShownOutage, { description: 'Newest first, at most 20.' }),
});
export type CheckSummary = Static<typeof CheckSummary>;

export const CheckSummaryList = Type.Object(
  { ...range, ...defineList('', 'Checks', CheckSummary, 'Sorted by kind and name.').properties },
  { title: 'AvailabilityList' },
);

const rangeQuery = {
  from: Type.Optional(
    Type.String({ description: 'Beginning of the range, RFC 3339.', examples: ['2026-01-01T00:00:00Z'] }),
  ),
  until: Type.Optional(
    Type.String({ description: 'End of the range; now by default.', examples: ['2026-02-01T00:00:00Z'] }),
  ),
  timeZone: Type.Optional(
    Type.String({
      description: 'Time zone of the days; by default the time zone of the server.',
      examples: ['Europe/Berlin'],
    }),
  ),
  format: Type.Optional(
    Type.Enum(['json', 'csv'], {
      type: 'string',
      description: 'Format; by default `Accept` decides: `text/csv`, or else JSON.',
    }),
  ),
};

export const AvailabilityQuery = Type.Object({
  ...rangeQuery,
  list: Type.Enum(['days', 'outages'], { type: 'string', default: 'days', description: 'List that the CSV contains.' }),
});

export const SummaryQuery = Type.Object(rangeQuery);
