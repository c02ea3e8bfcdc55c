import { openFor } from '../../auth/access.ts';
import { createUsageReader } from '../../host/process-usage.ts';
import { readPowerShellVersion } from '../../host/programs.ts';
import { createSharedReading } from '../../host/reading.ts';
import { defineFeature, type Parts } from '../../kit/feature.ts';
import { HostUsage, ProcessUsage } from '../../kit/machine.ts';
import { createPolledTopic, createSourceTopic, type Topic } from '../../kit/topic.ts';
import { createMonitoringRoutes, rankProcesses, toRounded } from './routes.ts';

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
        clock,
        host,
        version,
        nodeVersion: process.versions.node,
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
  const { read, begin } = createTopReader(host, clock, mostProcesses);
  const top = createTopReader(host, clock, topProcesses);
  return {
    host: createSourceTopic(openFor('machine:read'), HostUsage, (report) =>
      host.listen(({ usage }) => {
        // JSON has no NaN: it becomes null.
        report({ time: clock().toISOString(), ...usage, cpu: toRounded(usage.cpu, 4) });
      }),
    ),
    processes: createPolledTopic(openFor('machine:read'), ProcessUsage, processInterval, read, { begin }),
    top: createPolledTopic(openFor('machine:read'), ProcessUsage, topInterval, top.read, { begin: top.begin }),
  };
};

/** The processes with the largest working sets, and their usage since the reading before. */
const createTopReader = (host: Parts['host'], clock: () => Date, most: number) => {
  const { read, begin } = createUsageReader(host, (all) => rankProcesses(all).processes.slice(0, most));
  return {
    begin,
    read: async () => {
      const { count, processes } = await read();
      return { time: clock().toISOString(), count, data: processes };
    },
  };
};
