import Type from 'typebox';
import { openFor } from '../../auth/access.ts';
import { createSharedReading } from '../../host/reading.ts';
import type { HostReadings } from '../../host/readings.ts';
import { defineFeature } from '../../kit/feature.ts';
import { defineRoute } from '../../kit/route.ts';
import type { Meters } from '../../metrics/meters.ts';
import { addProcessMeters, readMetrics, textType } from '../../metrics/prometheus.ts';

/** Feature that serves metrics in the Prometheus text format. */
export const metrics = defineFeature({
  name: 'metrics',
  profiles: [{ name: 'metrics', mounts: ['/'], summary: 'metrics for Prometheus' }],
  settings: {},
  create: ({ meters, host, version }) => {
    meters.reading(
      'gauge',
      'signalbox_build_info',
      'Always 1; the labels contain the versions.',
      () => [[[version, process.versions.node], 1]],
      ['version', 'node_version'],
    );
    addProcessMeters(meters);
    addHostMeters(meters, host);
    return {
      profiles: {
        metrics: [
          defineRoute({
            method: 'GET',
            path: '/metrics',
            ...openFor('metrics:read'),
            summary: 'Get all metrics in the Prometheus text format',
            schema: {
              operationId: 'getMetrics',
              response: { 200: { content: { 'text/plain': { schema: MetricsText } } } },
            },
            handler: async (_request, reply) => reply.type(textType).send(await readMetrics(meters)),
          }),
        ],
      },
    };
  },
});

const MetricsText = Type.String({ examples: ['process_cpu_seconds_total 1.25'] });

/** Milliseconds for which all meters of a scrape share a reading. */
const maxAgeMs = 500;

/** Adds meters of the machine. They are read at each scrape. */
const addHostMeters = ({ reading }: Meters, host: HostReadings): void => {
  const counters = createSharedReading(async () => host.counters(), maxAgeMs);
  const disks = createSharedReading(() => host.fixedDisks(), maxAgeMs);
  reading(
    'counter',
    'signalbox_host_cpu_seconds_total',
    'CPU time of the machine over all cores.',
    async () =>
      Object.entries((await counters()).cpuSeconds.get('cpu') ?? {}).map(([mode, seconds]) => [[mode], seconds]),
    ['mode'],
  );
  for (const [name, help, key] of memoryMeters) {
    reading('gauge', `signalbox_host_memory_${name}_bytes`, help, async () => {
      const { memory } = await counters();
      return memory ? memory[key] : [];
    });
  }
  for (const [name, help, key] of diskMeters) {
    reading(
      'gauge',
      `signalbox_host_filesystem_${name}_bytes`,
      help,
      async () => (await disks()).map((disk) => [[disk.mountPath], disk[key]]),
      ['mountpoint'],
    );
  }
  reading('gauge', 'signalbox_host_boot_time_seconds', 'Unix time at which the machine was started.', async () => {
    const { bootedAt } = await counters();
    return bootedAt ? bootedAt.getTime() / 1000 : [];
  });
  reading('gauge', 'signalbox_host_processes', 'Processes of the machine.', () => host.processCount());
};

const memoryMeters = [
  ['size', 'Memory of the machine.', 'total'],
  ['available', 'Memory that programs can still allocate without swapping.', 'available'],
  ['swap_size', 'Size of the swap space.', 'swapTotal'],
  ['swap_free', 'Free part of the swap space.', 'swapFree'],
] as const;

const diskMeters: readonly [name: string, help: string, key: 'totalBytes' | 'usedBytes' | 'availableBytes'][] = [
  ['size', 'Size of each fixed local disk and the root file system.', 'totalBytes'],
  ['used', 'Used space.', 'usedBytes'],
  ['available', 'Space available to ordinary users.', 'availableBytes'],
];
