import { openFor } from '../../auth/access.ts';
import { createUsageReader } from '../../host/process-usage.ts';
import { readPowerShellVersion } from '../../host/programs.ts';
import { createSharedReading } from '../../host/reading.ts';
import { defineFeature, type Parts } from '../../kit/feature.ts';
import { HostUsage, ProcessUsage } from '../../kit/machine.ts';
import { createPolledTopic, createSourceTopic, type Topic } from '../../kit/topic.ts';
import { createMonitoringRoutes, rankProcesses, toRounded } from './routes.ts';

/** Feature that reports the state of the server's machine. */
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
        // Shared, so that concurrent requests read PowerShell's files only once.
        readPowerShellVersion: createSharedReading(() => readPowerShellVersion(powerShellPaths), 0),
      }),
    },
  }),
});

/** Milliseconds between two events on a topic. */
const processInterval = 2000;
const topInterval = 4000;

/** Maximum number of processes in an event on the `processes` and `top` topics. */
const maxProcesses = 2000;
const maxTopProcesses = 10;

/** Creates the topics: usage every second, processes every 2 s, and the largest processes every 4 s. */
const createMonitoringTopics = ({ host, clock }: Pick<Parts, 'host' | 'clock'>): Record<string, Topic> => {
  const { read, begin } = createTopReader(host, clock, maxProcesses);
  const top = createTopReader(host, clock, maxTopProcesses);
  return {
    host: createSourceTopic(openFor('machine:read'), HostUsage, (report) =>
      host.listen(({ usage }) => {
        // NaN becomes null in JSON.
        report({ time: clock().toISOString(), ...usage, cpu: toRounded(usage.cpu, 4) });
      }),
    ),
    processes: createPolledTopic(openFor('machine:read'), ProcessUsage, processInterval, read, { begin }),
    top: createPolledTopic(openFor('machine:read'), ProcessUsage, topInterval, top.read, { begin: top.begin }),
  };
};

/** Creates a reader of the processes with the largest working sets. Includes their usage since the previous reading. */
const createTopReader = (host: Parts['host'], clock: () => Date, max: number) => {
  const { read, begin } = createUsageReader(host, (all) => rankProcesses(all).processes.slice(0, max));
  return {
    begin,
    read: async () => {
      const { count, processes } = await read();
      return { time: clock().toISOString(), count, data: processes };
    },
  };
};
