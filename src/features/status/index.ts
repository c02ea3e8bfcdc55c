import type { Static } from 'typebox';
import Type from 'typebox';
import { openFor } from '../../auth/access.ts';
import { type FileSystemReading, type HostSample, isWritable } from '../../host/readings.ts';
import { type Concern, concernAreas, defineFeature } from '../../kit/feature.ts';
import { hostLimits as limits, type WatchSource } from '../../kit/offers.ts';
import { defineRoute } from '../../kit/route.ts';
import { type Severity, severities } from '../../kit/severity.ts';
import { defineShape, nullable } from '../../kit/shape.ts';
import { createPolledTopic } from '../../kit/topic.ts';
import { minuteMs } from '../../lib/units.ts';

const share = (description: string) => nullable(Type.Number({ minimum: 0, maximum: 1, examples: [0.42] }), description);

export type HealthStatus = Static<typeof HealthStatus>;
export const HealthStatus = defineShape('HealthStatus', {
  status: Type.Enum(['ok', 'attention'], { type: 'string', description: '`ok` if there are no problems.' }),
  time: Type.String({ format: 'date-time', examples: ['2026-01-31T08:30:00.000Z'] }),
  problems: Type.Array(
    Type.Object({
      area: Type.Enum([...concernAreas], { type: 'string', description: 'Part of the system with the problem.' }),
      severity: Type.Enum([...severities], { type: 'string' }),
      text: Type.String({ examples: ['2 critical incidents are open'] }),
    }),
    { description: 'Current problems, worst first.' },
  ),
  host: nullable(
    Type.Object({
      cpu: share('Usage of all CPUs, from 0 to 1.'),
      memory: share('Share of the memory that is not available to programs, from 0 to 1.'),
    }),
    'Averages of the last minute; null before the first reading.',
  ),
  bootedAt: Type.String({
    format: 'date-time',
    description: 'Time at which the machine started.',
    examples: ['2026-01-28T06:12:00.000Z'],
  }),
});

/** Milliseconds between two events. */
const interval = 1000;

/** Feature that reports current problems of the machine and the server, without confidential details. */
export const status = defineFeature({
  name: 'status',
  profiles: [{ name: 'status', mounts: ['/'], summary: 'current problems' }],
  settings: {},
  create: ({ host, offers, findConcerns, clock }) => {
    const lastMinute = createLastMinute();
    // Computed once, because setting the clock would change the result.
    const bootedAt = new Date(clock().getTime() - host.uptimeSeconds() * 1000).toISOString();
    const read = async (): Promise<HealthStatus> => {
      const [concerns, disks] = await Promise.all([findConcerns(), host.disksOfMinute().catch(() => [])]);
      const means = lastMinute.means();
      // A watch on this value takes the place of the built-in limit.
      const isWatched: WatchSource['covers'] = (what) => offers.watches?.covers(what) === true;
      const judged = means && {
        ...means,
        ...(isWatched('cpu') && { cpu: 0 }),
        ...(isWatched('memory') && { memory: 0 }),
      };
      const others = disks.filter((disk) => isWritable(disk) && !isWatched(disk));
      return { ...toStatus([...concerns, ...findHostConcerns(judged, others)], means, clock()), bootedAt };
    };
    let last: HealthStatus | undefined;
    // If nothing has changed, returns the previous status, including its time.
    const readChange = async (): Promise<HealthStatus> => {
      const next = await read();
      if (!last || !isSameStatus(last, next)) last = next;
      return last;
    };
    let leave: (() => void) | undefined;
    return {
      profiles: {
        status: [
          defineRoute({
            method: 'GET',
            path: '/api/status',
            ...openFor('machine:read'),
            summary: 'Get current problems',
            schema: { operationId: 'getStatus', response: { 200: HealthStatus } },
            handler: read,
          }),
        ],
      },
      topics: {
        status: createPolledTopic(openFor('machine:read'), HealthStatus, interval, readChange, { onlyChanges: true }),
      },
      start: () => {
        leave = host.listen(lastMinute.add);
      },
      close: async () => leave?.(),
    };
  },
});

/** Returns the status for the given problems and means. */
const toStatus = (
  concerns: readonly Concern[],
  means: MinuteMeans | undefined,
  time: Date,
): Omit<HealthStatus, 'bootedAt'> => {
  const problems = concerns.toSorted(
    (a, b) =>
      severities.indexOf(a.severity) - severities.indexOf(b.severity) ||
      concernAreas.indexOf(a.area) - concernAreas.indexOf(b.area),
  );
  return {
    status: problems.length === 0 ? 'ok' : 'attention',
    time: time.toISOString(),
    problems,
    host: means ? { cpu: toHundredths(means.cpu), memory: toHundredths(means.memory) } : null,
  };
};

/** Rounds a share to whole percentages, so that small changes in usage do not cause an event. */
const toHundredths = (share: number): number | null => (Number.isNaN(share) ? null : Math.round(share * 100) / 100);

/** True if the statuses differ only in their times. */
const isSameStatus = (a: HealthStatus, b: HealthStatus): boolean =>
  JSON.stringify({ ...a, time: '' }) === JSON.stringify({ ...b, time: '' });

/** Means over the last minute, as shares from 0 to 1. NaN stands for unknown. */
interface MinuteMeans {
  cpu: number;
  memory: number;
  /** False while the samples cover less than a minute. */
  isWhole: boolean;
}

type UsageSample = Pick<HostSample, 'at' | 'usage'>;

/** Keeps the samples of the last minute. Call `add` about once a second. */
export const createLastMinute = () => {
  let samples: UsageSample[] = [];
  return {
    add: ({ at, usage }: UsageSample): void => {
      // The CPU usage of the first sample belongs to the time before this minute.
      const first = samples.findLastIndex((sample) => sample.at <= at - minuteMs);
      samples = [...samples.slice(Math.max(0, first)), { at, usage }];
    },
    /** Returns the means. Undefined before the first sample. */
    means: (): MinuteMeans | undefined => {
      const [first, last] = [samples[0], samples.at(-1)];
      if (!first || !last) return undefined;
      return {
        cpu: toMean(samples.slice(1).map(({ usage }) => usage.cpu)),
        memory: toMean(samples.map(({ usage }) => usage.memoryUsed / usage.memoryTotal)),
        isWhole: last.at - first.at >= minuteMs,
      };
    },
  };
};

/** Returns the mean of the known values. NaN if there are none. */
const toMean = (values: readonly number[]): number => {
  const known = values.filter(Number.isFinite);
  return known.reduce((sum, value) => sum + value, 0) / known.length;
};

/** Returns the problems of the machine: CPU and memory over a whole minute, and disks at this moment. */
export const findHostConcerns = (
  means: MinuteMeans | undefined,
  disks: readonly Pick<FileSystemReading, 'mountPath' | 'usedBytes' | 'availableBytes'>[],
): Concern[] => {
  const { cpu, memory } = means?.isWhole ? means : { cpu: 0, memory: 0 };
  return [
    ...(cpu >= limits.cpu ? [toConcern(`The CPU was ${toPercent(cpu)} busy over the last minute`)] : []),
    ...(memory >= limits.memory ? [toConcern(`${toPercent(memory)} of the memory is in use`)] : []),
    ...disks.flatMap(({ mountPath, usedBytes, availableBytes }) => {
      // As in `df`, space reserved for root is neither used nor free.
      const used = usedBytes / (usedBytes + availableBytes);
      if (!(used >= limits.disk)) return [];
      return [toConcern(`${mountPath} is ${toPercent(used)} full`, used >= limits.fullDisk ? 'CRITICAL' : 'WARNING')];
    }),
  ];
};

const toConcern = (text: string, severity: Severity = 'WARNING'): Concern => ({ area: 'host', severity, text });

/** Formats a share as a percentage. Rounds down, so that 99.9 % is not shown as full. */
const toPercent = (share: number): string => `${Math.floor(share * 100)} %`;
