import Type from 'typebox';
import { type Severity, severities } from './severity.ts';
import { defineShape, nullable } from './shape.ts';
import { Time } from './time.ts';

const numberOrNull = (example: number, description?: string) =>
  nullable(Type.Number({ examples: [example] }), description);

/** Schemas for the usage of the machine at one point in time. */
export const hostUsage = {
  cpu: numberOrNull(0.25, 'Usage of all CPUs, from 0 to 1.'),
  memoryUsed: numberOrNull(2_147_483_648, 'Bytes of memory not available to programs.'),
  memoryTotal: numberOrNull(8_589_934_592, 'Bytes of memory.'),
  swapUsed: numberOrNull(0, 'Bytes of used swap space.'),
  load: numberOrNull(0.5, 'Mean number of runnable processes over a minute.'),
  networkReceived: numberOrNull(1200, 'Bytes received per second.'),
  networkSent: numberOrNull(800, 'Bytes sent per second.'),
};

/** Event of the topic `host`. */
export const HostUsage = Type.Object(
  { time: Time, ...hostUsage },
  {
    title: 'HostUsage',
    description: 'Sizes in bytes, traffic in bytes per second; `null` if the machine does not report a value.',
  },
);

/**
 * Creates the schema of a process with its usage. `sinceWhen` completes the description of the period that the share
 * covers.
 */
export const describeProcess = (sinceWhen: string) =>
  Type.Object({
    pid: Type.Integer({ examples: [4086] }),
    parentPid: numberOrNull(1),
    name: Type.String({ examples: ['node'] }),
    user: nullable(Type.String({ examples: ['root'] })),
    cpu: numberOrNull(0.02, `Share of one CPU ${sinceWhen}.`),
    cpuSeconds: numberOrNull(0.92),
    memoryBytes: Type.Number({ examples: [109_990_000] }),
    threads: numberOrNull(11),
    startedAt: nullable(Time),
  });

/** Event of the topics `processes` and `top`. */
export const ProcessUsage = Type.Object(
  {
    time: Time,
    count: Type.Integer({ description: 'Number of all processes.', examples: [1] }),
    data: Type.Array(describeProcess('since the previous event')),
  },
  { title: 'ProcessUsage', description: 'Processes with the most memory.' },
);

/** Names of severities in /metrics and in the history. */
export const severityNames = severities.map((severity) => severity.toLowerCase() as Lowercase<Severity>);

/** Values in a step of the history, in file order. Any change requires a new version of the file. */
const hostMeanings = {
  cpu: 'Usage of all CPUs, from 0 to 1.',
  memoryUsed: 'Bytes of memory not available to programs.',
  memoryTotal: 'Bytes of memory.',
  swapUsed: 'Bytes of used swap space.',
  load: 'Mean number of runnable processes over a minute.',
  networkReceived:
    'Bytes received per second by physical interfaces. Without physical interfaces, as in a container, by all interfaces except loopback.',
  networkSent: 'Bytes sent per second.',
};
export const hostColumns = Object.keys(hostMeanings) as (keyof typeof hostMeanings)[];

const series = (description: string) =>
  Type.Array(nullable(Type.Number({ examples: [0.25] })), {
    description,
    examples: [[0.25, null]],
  });

const toSeries = <N extends string>(names: readonly N[], describe: (name: N) => string) =>
  Object.fromEntries(names.map((name) => [name, series(describe(name))])) as Record<N, ReturnType<typeof series>>;

export const History = defineShape('History', {
  step: Type.Integer({ description: 'Seconds from one value to the next.', examples: [10] }),
  start: Type.String({
    format: 'date-time',
    description: 'Time of the first value of each list.',
    examples: ['2026-01-31T09:30:00.000Z'],
  }),
  count: Type.Integer({ description: 'Number of values in each list; an unknown value is `null`.', examples: [1] }),
  ...toSeries(hostColumns, (name) => hostMeanings[name]),
  alerts: Type.Object(toSeries(severityNames, () => 'Alerts stored in the step.')),
  disks: Type.Array(
    Type.Object({
      mountPath: Type.String({ examples: ['/'] }),
      used: series('Used bytes.'),
      total: series('Used bytes and bytes available to ordinary users.'),
    }),
    { description: 'Fixed local disks and the root file system that were seen within 24 hours, at most 8.' },
  ),
});
