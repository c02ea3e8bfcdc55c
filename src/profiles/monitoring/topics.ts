import type { CountersReading, ProcessReading } from '../../host/readings.ts';
import { toUsage } from '../../host/sampling/usage.ts';
import type { Parts } from '../feature.ts';
import { createPolledTopic, type Topic } from '../topic.ts';
import { toRounded } from './units.ts';

const hostInterval = 1000;
const processInterval = 2000;

/** Processes in an event: the ones with the largest working sets. */
const mostProcesses = 2000;

/** The machine's usage every second, and its processes every two; both as numbers without units. */
export const createMonitoringTopics = ({ host, clock }: Pick<Parts, 'host' | 'clock'>): Record<string, Topic> => ({
  host: createPolledTopic('open', hostInterval, createUsageReader(host, clock)),
  processes: createPolledTopic('open', processInterval, createProcessReader(host, clock)),
});

/** Usage since the previous call; of the first call, whose share of busy time is null, only the state. */
const createUsageReader = (host: Parts['host'], clock: () => Date) => {
  let before: { at: number; counters: CountersReading } | undefined;
  return async () => {
    const now = { at: performance.now(), counters: host.counters() };
    const from = before ?? now;
    const usage = toUsage(from.counters, now.counters, (now.at - from.at) / 1000);
    before = now;
    // JSON has no NaN: it becomes null.
    return { time: clock().toISOString(), ...usage, cpu: toRounded(usage.cpu, 4) };
  };
};

const createProcessReader = (host: Parts['host'], clock: () => Date) => {
  let before = new Map<string, number>();
  let readAt = performance.now();
  return async () => {
    const processes = await host.processes();
    const now = performance.now();
    const seconds = (now - readAt) / 1000;
    readAt = now;
    const used = new Map(processes.map((process) => [toKey(process), toSeconds(process)]));
    const largest = processes.toSorted((a, b) => b.workingSetBytes - a.workingSetBytes).slice(0, mostProcesses);
    const owners = await host.processOwners(largest);
    const rows = largest.map((process) => {
      const earlier = before.get(toKey(process)) ?? Number.NaN;
      return {
        pid: process.pid,
        parentPid: process.parentPid,
        name: process.name,
        user: owners.get(process.pid) ?? null,
        /** Share of one processor since the event before. */
        cpu: toRounded(Math.max(0, toSeconds(process) - earlier) / seconds, 4),
        cpuSeconds: toRounded(toSeconds(process), 2),
        memoryBytes: process.workingSetBytes,
        threads: process.threads,
        startedAt: process.startedAt?.toISOString() ?? null,
      };
    });
    before = used;
    return { time: clock().toISOString(), count: processes.length, data: rows };
  };
};

/** A pid may be used again by another process. */
const toKey = ({ pid, startedAt }: ProcessReading): string => `${pid} ${startedAt?.getTime()}`;

const toSeconds = ({ userSeconds, kernelSeconds }: ProcessReading): number =>
  userSeconds === null || kernelSeconds === null ? Number.NaN : userSeconds + kernelSeconds;
