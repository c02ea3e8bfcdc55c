import Type, { type Static } from 'typebox';
import { defineShape } from '../../kit/shape.ts';

const storeKinds = ['memory', 'file', 'postgresql'] as const;

export const About = defineShape('About', {
  version: Type.String({ description: 'Version of signalbox.', examples: ['1.0.0'] }),
  runtime: Type.String({ description: 'Name and version of the runtime.', examples: ['Node.js 20.20.2'] }),
  uptimeSeconds: Type.Integer({ description: 'Seconds since the server started.', examples: [86_400] }),
  store: Type.Enum(storeKinds, {
    type: 'string',
    description: 'Kind of store for tasks and items.',
    examples: ['file'],
  }),
  dataFolder: Type.Union([Type.String({ examples: ['/var/lib/signalbox'] }), Type.Null()], {
    description: 'Data folder; `null` unless the caller is an Admin.',
  }),
  freeBytes: Type.Union([Type.Integer({ minimum: 0, examples: [12_884_901_888] }), Type.Null()], {
    description: 'Free bytes on the disk of the data folder; `null` if unknown.',
  }),
});

const Licence = defineShape('Licence', {
  name: Type.String({ description: 'Name of the library.', examples: ['fastify'] }),
  version: Type.String({ examples: ['5.12.8'] }),
  licence: Type.String({ description: 'SPDX expression of the licence.', examples: ['MIT'] }),
  text: Type.String({ description: 'Text of the licence.', examples: ['MIT License'] }),
});
export type Licence = Static<typeof Licence>;

export const LicenceList = defineShape('LicenceList', {
  count: Type.Integer({ description: 'Number of libraries in `data`.', examples: [1] }),
  data: Type.Array(Licence, { description: 'Sorted by name; Node.js, if included in the program, comes first.' }),
});

export const ScheduleQuery = Type.Object({
  schedule: Type.String({
    maxLength: 100,
    description: 'Cron expression with five fields, as in silences, heartbeats and rotations.',
    examples: ['0 2 * * 6'],
  }),
  timeZone: Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'Time zone of the schedule; the time zone of the server by default.',
      examples: ['Europe/Berlin'],
    }),
  ),
});

export const ScheduleTimes = defineShape('ScheduleTimes', {
  count: Type.Integer({ description: 'Number of times in `data`.', examples: [3] }),
  data: Type.Array(Type.String({ format: 'date-time', examples: ['2036-02-02T01:00:00.000Z'] }), {
    description: 'Next times of the schedule.',
  }),
  timeZone: Type.String({ description: 'Time zone of the schedule.', examples: ['Europe/Berlin'] }),
});
