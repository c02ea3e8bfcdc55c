import Type, { type Static } from 'typebox';
import { defineShape, orNull } from '../../kit/shape.ts';
import { maxPatternLength, SilenceMatcher } from '../../kit/silence-source.ts';

export const silenceStates = ['active', 'pending', 'expired'] as const;

/**
 * Maximum length of a comment in characters, maximum length of a schedule in characters, and maximum number of labels
 * or matchers.
 */
const maxCommentLength = 4000;
const maxScheduleLength = 100;
const maxMembers = 50;

/** Maximum length of a window in minutes: one week. */
const maxMinutes = 10_080;

const example = '2036-01-31T08:30:00.000Z';
const SilenceTime = Type.String({ format: 'date-time', examples: [example] });
const time = (description: string) => Type.String({ description, examples: [example] });

const pattern = (sample: string, description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: maxPatternLength, description, examples: [sample] }));

/** Patterns of a silence. All of them must match. */
export const SilenceMatch = defineShape('SilenceMatch', {
  source: pattern('backup*', 'Pattern for the source of an alert, case-insensitive; `*` matches any text.'),
  hostname: pattern('web-*', 'Pattern for the host name.'),
  level: pattern('WARNING', 'Pattern for the severity: `CRITICAL`, `ERROR`, `WARNING` or `INFO`.'),
  text: pattern('*disk*', 'Pattern for the whole message.'),
  labels: Type.Optional(
    Type.Record(
      Type.String({ minLength: 1, maxLength: maxPatternLength }),
      Type.String({ maxLength: maxPatternLength, examples: ['db'] }),
      {
        maxProperties: maxMembers,
        description: 'Patterns for labels, by label name.',
        examples: [{ team: 'db' }],
      },
    ),
  ),
});

export type SilenceMatch = Static<typeof SilenceMatch>;

const comment = Type.Optional(
  Type.String({
    maxLength: maxCommentLength,
    description: 'Reason for the silence.',
    examples: ['the disk is being replaced'],
  }),
);
const schedule = Type.String({
  maxLength: maxScheduleLength,
  description:
    'Cron expression with five fields: the start of each window. If day or weekday begins with `*`, both must match.',
  examples: ['0 2 * * 6'],
});
const timeZone = Type.String({
  maxLength: maxScheduleLength,
  description: 'Time zone of the schedule.',
  examples: ['Europe/Berlin'],
});
const minutes = Type.Integer({
  minimum: 1,
  maximum: maxMinutes,
  description: 'Length of each window in minutes.',
  examples: [90],
});

const maintenance = Type.Boolean({
  description: 'True for maintenance: this time does not count towards the availability of the covered checks.',
  examples: [false],
});

export const NewSilence = defineShape('NewSilence', {
  match: Type.Optional(SilenceMatch),
  matchers: Type.Optional(
    Type.Array(SilenceMatcher, {
      minItems: 1,
      maxItems: maxMembers,
      description: 'Matchers of Alertmanager instead of `match`; all must match.',
    }),
  ),
  startsAt: Type.Optional(time('Start, RFC 3339 with offset; now by default.')),
  endsAt: Type.Optional(time('End, RFC 3339 with offset. Optional only with a schedule.')),
  comment,
  schedule: Type.Optional(schedule),
  timeZone: Type.Optional(
    Type.String({ ...timeZone, description: 'Time zone of the schedule; the time zone of the server by default.' }),
  ),
  minutes: Type.Optional(minutes),
  maintenance: Type.Optional(maintenance),
});
export type NewSilence = Static<typeof NewSilence>;

export const Silence = defineShape('Silence', {
  id: Type.String({ format: 'uuid', examples: ['019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c56'] }),
  state: Type.Enum(silenceStates, {
    type: 'string',
    description: '`pending`: the silence or its next window has not begun. `expired`: the silence has ended.',
  }),
  match: orNull(SilenceMatch, 'Patterns that an alert must match.'),
  matchers: orNull(Type.Array(SilenceMatcher), 'Matchers of Alertmanager, if the silence was created with matchers.'),
  startsAt: Type.String({ ...SilenceTime, description: 'Start of the silence.' }),
  endsAt: orNull(SilenceTime, 'End of the silence.'),
  schedule: orNull(schedule, 'Cron expression: the start of each window.'),
  timeZone: orNull(timeZone, 'Time zone of the schedule.'),
  minutes: orNull(minutes, 'Length of each window in minutes.'),
  window: orNull(
    defineShape('SilenceWindow', { startsAt: SilenceTime, endsAt: orNull(SilenceTime, 'End of the window.') }),
    'The current or next window.',
  ),
  problem: orNull(
    Type.String({ examples: ['the regular expression a{1000} is too large: use fewer or smaller repetitions'] }),
    'Reason why the silence has no effect. End the silence, and create a new silence.',
  ),
  maintenance,
  comment: Type.String({ examples: ['the disk is being replaced'] }),
  createdBy: Type.String({ description: 'Author: a user or `key:NAME`.', examples: ['admin'] }),
  createdAt: SilenceTime,
  updatedBy: Type.String({ description: 'Author of the last change: a user or `key:NAME`.', examples: ['admin'] }),
  updatedAt: SilenceTime,
  version: Type.Integer({ description: 'Version of the silence, as in the `ETag`.', examples: [12] }),
});
export type Silence = Static<typeof Silence>;

export const SilenceParams = Type.Object({
  id: Type.String({ description: 'Id of the silence.', examples: ['019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c56'] }),
});

export const SilenceQuery = Type.Object({
  state: Type.Enum([...silenceStates, 'all'], {
    type: 'string',
    default: 'all',
    description: 'Only silences in this state.',
  }),
  limit: Type.Integer({
    minimum: 1,
    maximum: 1000,
    default: 100,
    description: 'Maximum number of silences to return.',
  }),
  before: Type.Optional(
    Type.String({ description: 'Only silences after this position; pass the `next` of the previous page.' }),
  ),
});

export const SilencePage = defineShape('SilencePage', {
  count: Type.Integer({ description: 'Number of silences in `data`.', examples: [1] }),
  total: Type.Integer({ description: 'Number of matches on all pages.', examples: [1] }),
  data: Type.Array(Silence, { description: 'Newest first.' }),
  next: orNull(
    Type.String({ examples: ['019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c56'] }),
    'Value of `before` for the next page.',
  ),
});
