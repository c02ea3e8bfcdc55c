import Type from 'typebox';
import { defineShape } from '../route.ts';
import { alertLevels, hostColumns } from './columns.ts';

const series = (description: string) =>
  Type.Array(Type.Union([Type.Number({ examples: [0.25] }), Type.Null()]), {
    description,
    examples: [[0.25, null]],
  });

const descriptions: Record<(typeof hostColumns)[number], string> = {
  cpu: 'Busy share of all processors, 0 to 1.',
  memoryUsed: 'Bytes not available to programs.',
  memoryTotal: 'Bytes.',
  swapUsed: 'Bytes.',
  load: 'Runnable processes, mean of a minute.',
  networkReceived:
    'Bytes per second over real interfaces; where there are none, as in a container, over all but loopback.',
  networkSent: 'Bytes per second.',
};

export const HistoryQuery = Type.Object({
  since: Type.Optional(
    Type.String({
      description: 'Only steps from this time on: RFC 3339 with an offset, or Unix seconds. All by default.',
      examples: ['2026-01-31T09:30:00Z'],
    }),
  ),
  step: Type.Integer({
    enum: [1, 10],
    default: 10,
    description: 'Seconds: 1 for the last 10 minutes, 10 for the last 24 hours.',
  }),
});

export const History = defineShape('History', {
  step: Type.Integer({ description: 'Seconds from one value to the next.', examples: [10] }),
  start: Type.String({
    format: 'date-time',
    description: 'Time of the first value of each list.',
    examples: ['2026-01-31T09:30:00.000Z'],
  }),
  count: Type.Integer({ description: 'Values in each list; null stands for unknown.', examples: [1] }),
  ...(Object.fromEntries(hostColumns.map((name) => [name, series(descriptions[name])])) as Record<
    (typeof hostColumns)[number],
    ReturnType<typeof series>
  >),
  alerts: Type.Object(
    Object.fromEntries(alertLevels.map((level) => [level, series('Alerts stored in the step.')])) as Record<
      (typeof alertLevels)[number],
      ReturnType<typeof series>
    >,
  ),
  disks: Type.Array(
    Type.Object({
      mountPath: Type.String({ examples: ['/'] }),
      used: series('Bytes.'),
      total: series('Used bytes and those that ordinary users can still fill.'),
    }),
    { description: 'Fixed local disks and the root file system that were seen within 24 hours, at most 8.' },
  ),
});
