import Type, { type Static } from 'typebox';
import { defineShape, orNull } from '../../kit/route.ts';
import { maxPatternLength, SilenceMatcher } from '../../kit/silence-source.ts';

export const silenceStates = ['active', 'pending', 'expired'] as const;

/** Maximum characters of a comment and of a schedule, and maximum number of labels or matchers. */
const maxCommentLength = 4000;
const maxScheduleLength = 100;
const maxMembers = 50;

/** Maximum minutes of a window: a week. */
const maxMinutes = 10_080;

const example = '2036-01-31T08:30:00.000Z';
const SilenceTime = Type.String({ format: 'date-time', examples: [example] });
const time = (description: string) => Type.String({ description, examples: [example] });

const pattern = (sample: string, description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: maxPatternLength, description, examples: [sample] }));

/** What a silence matches, as people write it: each member has to match. */
export const SilenceMatch = defineShape('SilenceMatch', {
  source: pattern('backup*', 'Of an alert, in any case; `*` stands for any text. The same for the others.'),
  hostname: pattern('web-*', ''),
  level: pattern('WARNING', 'Of `CRITICAL`, `ERROR`, `WARNING` and `INFO`.'),
  text: pattern('*disk*', 'The whole message.'),
  labels: Type.Optional(
    Type.Record(
      Type.String({ minLength: 1, maxLength: maxPatternLength }),
      Type.String({ maxLength: maxPatternLength, examples: ['db'] }),
      {
        maxProperties: maxMembers,
        description: 'Patterns by the names of labels.',
        examples: [{ team: 'db' }],
      },
    ),
  ),
});

export type SilenceMatch = Static<typeof SilenceMatch>;

const comment = Type.Optional(
  Type.String({ maxLength: maxCommentLength, description: 'Why.', examples: ['the disk is being replaced'] }),
);
const schedule = Type.String({
  maxLength: maxScheduleLength,
  description: 'When windows begin, as five fields of cron. If day or weekday begins with `*`, both must match.',
  examples: ['0 2 * * 6'],
});
const timeZone = Type.String({
  maxLength: maxScheduleLength,
  description: 'Of the schedule.',
  examples: ['Europe/Berlin'],
});
const minutes = Type.Integer({
  minimum: 1,
  maximum: maxMinutes,
  description: 'How long each window is.',
  examples: [90],
});

export const NewSilence = defineShape('NewSilence', {
  match: Type.Optional(SilenceMatch),
  matchers: Type.Optional(
    Type.Array(SilenceMatcher, {
      minItems: 1,
      maxItems: maxMembers,
      description: 'Instead of `match`: matchers of Alertmanager, of which all must match.',
    }),
  ),
  startsAt: Type.Optional(time('From when, RFC 3339 with offset; now by default.')),
  endsAt: Type.Optional(time('Until when, RFC 3339 with offset. Only one with a schedule may have none.')),
  comment,
  schedule: Type.Optional(schedule),
  timeZone: Type.Optional(Type.String({ ...timeZone, description: 'Of the schedule; that of the server by default.' })),
  minutes: Type.Optional(minutes),
});
export type NewSilence = Static<typeof NewSilence>;

export const Silence = defineShape('Silence', {
  id: Type.String({ format: 'uuid', examples: ['019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c56'] }),
  state: Type.Enum(silenceStates, {
    type: 'string',
    description: '`pending`: it begins later. `expired`: it has ended for good.',
  }),
  match: orNull(SilenceMatch, 'What it matches.'),
  matchers: orNull(Type.Array(SilenceMatcher), 'Its matchers, if it was created with matchers.'),
  startsAt: Type.String({ ...SilenceTime, description: 'From when it holds.' }),
  endsAt: orNull(SilenceTime, 'Until when.'),
  schedule: orNull(schedule, 'When its windows begin.'),
  timeZone: orNull(timeZone, 'The time zone of the schedule.'),
  minutes: orNull(minutes, 'How long each window is.'),
  window: orNull(
    defineShape('SilenceWindow', { startsAt: SilenceTime, endsAt: orNull(SilenceTime, 'Its end.') }),
    'Its current or next window.',
  ),
  problem: orNull(
    Type.String({ examples: ['the regular expression a{1000} is too large: use fewer or smaller repetitions'] }),
    'Reason why the silence has no effect. End it and create a new silence.',
  ),
  comment: Type.String({ examples: ['the disk is being replaced'] }),
  createdBy: Type.String({ description: 'A user, or `key:NAME`.', examples: ['admin'] }),
  createdAt: SilenceTime,
  updatedBy: Type.String({ description: 'Who changed it last.', examples: ['admin'] }),
  updatedAt: SilenceTime,
  version: Type.Integer({ description: 'Its version, as the `ETag` has it.', examples: [12] }),
});
export type Silence = Static<typeof Silence>;

export const SilenceParams = Type.Object({
  id: Type.String({ description: 'Id of a silence.', examples: ['019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c56'] }),
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
  before: Type.Optional(Type.String({ description: 'The `next` of a page: what comes after it.' })),
});

export const SilencePage = defineShape('SilencePage', {
  count: Type.Integer({ description: 'Silences in `data`.', examples: [1] }),
  total: Type.Integer({ description: 'Number of matches on all pages.', examples: [1] }),
  data: Type.Array(Silence, { description: 'Newest first.' }),
  next: orNull(Type.String({ examples: ['019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c56'] }), 'The `before` of the next page.'),
});
