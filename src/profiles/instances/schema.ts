import Type from 'typebox';
import { defineShape } from '../route.ts';

const Instance = defineShape('Instance', {
  name: Type.String({ description: 'As set by `instanceName`.', examples: ['one'] }),
  version: Type.String({ description: 'Version of signalbox.', examples: ['1.0.0'] }),
  instance: Type.String({
    format: 'uuid',
    description: 'Of the running process; another one after a restart.',
    examples: ['7b0c2d4e-1f3a-4c5b-8d6e-9f0a1b2c3d4e'],
  }),
  seenAt: Type.String({
    format: 'date-time',
    description: 'When it last wrote to the database, which it does every 5 seconds, by the clock of the database.',
    examples: ['2026-01-31T08:30:00.000Z'],
  }),
  isLive: Type.Boolean({ description: 'Whether it was seen within the last minute.', examples: [true] }),
  isThis: Type.Boolean({ description: 'Whether it sent this response.', examples: [true] }),
});

export const InstanceList = defineShape('InstanceList', {
  count: Type.Integer({ examples: [1] }),
  data: Type.Array(Instance),
});
