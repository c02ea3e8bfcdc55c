import { quantile } from '../support/figures.ts';
import type { Finding } from '../support/finding.ts';
import type { Sample } from '../support/probe.ts';
import { toSlope } from './memory.ts';
import type { OpenLoopFigures } from './open-loop.ts';

/** Successful responses per second, and the server's processor time in milliseconds for each. */
export interface Rate {
  perSecond: number;
  cpuMs: number;
}

/** Measurements of an overload. */
export interface Overload {
  figures: OpenLoopFigures;
  rate: Rate;
  /** Rates at the server's full capacity, before and after the overload. */
  peaks: Rate[];
  /** The p99 in milliseconds of requests like the samples, without load. */
  idle: number;
  /** Other requests during and after the overload. */
  samples: Sample[];
  /** Response times in milliseconds of health on new connections during the overload. */
  newcomers: number[];
  /** The server's memory in MiB, once a second. */
  resident: number[];
}

/** Seconds until the memory of a process has adapted to more work. */
const settling = 20;

export const toFindings = (overload: Overload): Finding[] =>
  [toGoodput(overload), ...toMemory(overload), toRecovery(overload), ...toOthers(overload)].map((finding) => ({
    id: 'overload',
    ...finding,
  }));

type Row = Omit<Finding, 'id'>;

const toGoodput = ({ figures, rate, peaks }: Overload): Row => {
  const { statuses, unsent, seconds, median, p99 } = figures;
  const answers = Object.values(statuses).reduce((sum, count) => sum + count, 0);
  const offered = Math.round((answers + unsent) / seconds);
  const counts = Object.entries(statuses).map(([status, count]) => `${count} × ${status}`);
  return {
    work: `${offered} requests a second for ${Math.round(seconds)} s: answers 200 (${[...counts, `${unsent} without a connection`].join(', ')}; median ${Math.round(median)} ms, p99 ${Math.round(p99)} ms)`,
    unit: '/s',
    ours: [rate.perSecond],
    beside: { name: 'peak, before and after', figures: [mean(peaks.map(({ perSecond }) => perSecond))] },
    cpuRatios: [mean(peaks.map(({ cpuMs }) => cpuMs)) / rate.cpuMs],
    goals: [{ of: 'ratio', atLeast: 0.9 }],
  };
};

const toMemory = ({ resident }: Overload): Row[] => {
  const settled = resident.slice(settling);
  const half = settled.length / 2;
  const [earlier, later] = [settled.slice(0, half), settled.slice(half)].map((part) => Math.max(...part));
  return [
    {
      work: 'peak memory in the last 20 s',
      unit: ' MiB',
      ours: [later ?? Number.NaN],
      beside: { name: 'in the 20 s before', figures: [earlier ?? Number.NaN] },
      goals: [{ of: 'ratio', atMost: 1.1 }],
    },
    {
      work: 'memory growth in the last 40 s',
      unit: ' MiB/min',
      ours: [toSlope(settled) * 60],
      goals: [],
    },
  ];
};

/** Time until requests after the end are as fast as 99 of 100 without load. */
const toRecovery = ({ figures, samples, idle }: Overload): Row => {
  const first = samples.find(
    ({ due, status, ms }) => due >= figures.endedAt && status === 200 && ms <= Math.max(idle, 1),
  );
  return {
    work: 'time until a request is as fast as without load again',
    unit: ' ms',
    ours: [first ? first.due + first.ms - figures.endedAt : Number.POSITIVE_INFINITY],
    goals: [{ of: 'value', atMost: 1000 }],
  };
};

const toOthers = ({ figures, samples, newcomers, idle }: Overload): Row[] => {
  const meanwhile = samples.filter(({ due }) => due < figures.endedAt);
  const refused = meanwhile.filter(({ status }) => status !== 200).length;
  const times = meanwhile.map(({ ms }) => ms);
  const slowest = Math.round(Math.max(...newcomers));
  return [
    {
      work: `p99 of GET /api/tasks/1 under load (${refused} of ${meanwhile.length} refused)`,
      unit: ' ms',
      ours: [quantile(times, 0.99)],
      beside: { name: 'without load', figures: [idle] },
      goals: [],
    },
    {
      work: `median of GET /health on a new connection under load (all ${newcomers.length} answered 200; slowest ${slowest} ms)`,
      unit: ' ms',
      ours: [quantile(newcomers, 0.5)],
      goals: [],
    },
  ];
};

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
