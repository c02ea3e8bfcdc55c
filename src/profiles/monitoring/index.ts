import { readPowerShellVersion } from '../../host/programs.ts';
import { createSharedReading } from '../../host/reading.ts';
import type { ProcessReading } from '../../host/readings.ts';
import { defineFeature, type Parts } from '../feature.ts';
import { createPolledTopic, createSourceTopic, type Topic } from '../topic.ts';
import { createMonitoringRoutes, HostUsage, ProcessUsage, rankProcesses, toRounded } from './routes.ts';

/** Monitoring: the state of the machine the server runs on. */
export const monitoring = defineFeature({
  name: 'monitoring',
  profiles: [
    { name: 'monitoring', aliases: ['M'], mounts: ['/'], summary: 'health, server info, processes and disks' },
  ],
  settings: {},
  create: ({ clock, host, version, powerShellPaths }) => ({
    topics: createMonitoringTopics({ clock, host }),
    profiles: {
      monitoring: createMonitoringRoutes({
        ...{ clock, host, version, nodeVersion: process.versions.node },
        monotonicMs: () => performance.now(),
        // Shared, so concurrent requests read its files only once.
        readPowerShellVersion: createSharedReading(() => readPowerShellVersion(powerShellPaths), 0),
      }),
    },
  }),
});

const processInterval = 2000;
const topInterval = 4000;

/** Processes in an event: the ones with the largest working sets. */
const mostProcesses = 2000;
const topProcesses = 10;

/** The machine's usage every second, its processes every two, the largest of them every four; as numbers without units. */
const createMonitoringTopics = ({ host, clock }: Pick<Parts, 'host' | 'clock'>): Record<string, Topic> => {
  const { read, begin } = createProcessReader(host, clock, mostProcesses);
  const top = createProcessReader(host, clock, topProcesses);
  return {
    host: createSourceTopic('open', HostUsage, (report) =>
      host.listen(({ usage }) => {
        // JSON has no NaN: it becomes null.
        report({ time: clock().toISOString(), ...usage, cpu: toRounded(usage.cpu, 4) });
      }),
    ),
    processes: createPolledTopic('open', ProcessUsage, processInterval, read, { begin }),
    top: createPolledTopic('open', ProcessUsage, topInterval, top.read, { begin: top.begin }),
  };
};

/** Processes with their usage since the reading before; `begin` forgets that one. */
const createProcessReader = (host: Parts['host'], clock: () => Date, most: number) => {
  let before = new Map<string, number>();
  let readAt = performance.now();
  const begin = (): void => before.clear();
  const read = async () => {
    const processes = await host.processes();
    const now = performance.now();
    const seconds = (now - readAt) / 1000;
    readAt = now;
    const used = new Map(processes.map((process) => [toKey(process), toSeconds(process)]));
    const largest = rankProcesses(processes).processes.slice(0, most);
    const owners = await host.processOwners(largest);
    const rows = largest.map((process) => {
      const earlier = before.get(toKey(process)) ?? Number.NaN;
      return {
        pid: process.pid,
        parentPid: process.parentPid,
        name: process.name,
        user: owners.get(process.pid) ?? null,
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
  return { read, begin };
};

/** A pid may be used again by another process. */
const toKey = ({ pid, startedAt }: ProcessReading): string => `${pid} ${startedAt?.getTime()}`;

const toSeconds = ({ userSeconds, kernelSeconds }: ProcessReading): number =>
  userSeconds === null || kernelSeconds === null ? Number.NaN : userSeconds + kernelSeconds;
