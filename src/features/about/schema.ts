import Type, { type Static } from 'typebox';
import { defineShape } from '../../kit/route.ts';

const storeKinds = ['memory', 'file', 'postgresql'] as const;

export const About = defineShape('About', {
  version: Type.String({ description: 'Of signalbox.', examples: ['1.0.0'] }),
  runtime: Type.String({ description: 'What it runs on.', examples: ['Node.js 20.20.2'] }),
  uptimeSeconds: Type.Integer({ description: 'Since the server started.', examples: [86_400] }),
  store: Type.Enum(storeKinds, { type: 'string', description: 'Where tasks and items are kept.', examples: ['file'] }),
  dataFolder: Type.Union([Type.String({ examples: ['/var/lib/signalbox'] }), Type.Null()], {
    description: 'The folder with its data; `null` for all but an Admin.',
  }),
  freeBytes: Type.Union([Type.Integer({ minimum: 0, examples: [12_884_901_888] }), Type.Null()], {
    description: 'What is free where that folder is; `null` if unknown.',
  }),
});

const Licence = defineShape('Licence', {
  name: Type.String({ description: 'Of a library.', examples: ['fastify'] }),
  version: Type.String({ examples: ['5.12.8'] }),
  licence: Type.String({ description: 'Its SPDX expression.', examples: ['MIT'] }),
  text: Type.String({ description: 'The licence itself.', examples: ['MIT License'] }),
});
export type Licence = Static<typeof Licence>;

export const LicenceList = defineShape('LicenceList', {
  count: Type.Integer({ description: 'Libraries in `data`.', examples: [1] }),
  data: Type.Array(Licence, { description: 'By name; Node.js comes first where it is a part of the program.' }),
});

export const ScheduleQuery = Type.Object({
  schedule: Type.String({
    maxLength: 100,
    description: 'Five fields of cron, as silences, heartbeats and rotations have them.',
    examples: ['0 2 * * 6'],
  }),
  timeZone: Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'Of the schedule; that of the server by default.',
      examples: ['Europe/Berlin'],
    }),
  ),
});

export const ScheduleTimes = defineShape('ScheduleTimes', {
  count: Type.Integer({ description: 'Times in `data`.', examples: [3] }),
  data: Type.Array(Type.String({ format: 'date-time', examples: ['2036-02-02T01:00:00.000Z'] }), {
    description: 'The next ones.',
  }),
  timeZone: Type.String({ description: 'The time zone of the schedule.', examples: ['Europe/Berlin'] }),
});
