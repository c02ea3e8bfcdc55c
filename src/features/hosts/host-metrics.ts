import Type from 'typebox';
import { needs } from '../../auth/access.ts';
import type { ReportedReadings } from '../../kit/host-report/report-schema.ts';
import { defineRoute, type Route } from '../../kit/route.ts';
import { createMeters } from '../../metrics/meters.ts';
import { readMetrics } from '../../metrics/prometheus.ts';
import type { Fleet } from './fleet.ts';
import type { Hub } from './hub.ts';
import type { HostKeeper } from './kind.ts';
import type { ShownHost } from './schema.ts';

const openMetricsType = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

const Text = Type.String({ examples: ['signalbox_remote_host_up{host="web-1"} 1'] });

type NumberName = {
  [K in keyof ReportedReadings]-?: ReportedReadings[K] extends number | null | undefined ? K : never;
}[keyof ReportedReadings];

const readingMeters: readonly [name: string, help: string, key: NumberName][] = [
  ['cpu_ratio', 'Usage of all CPUs, from 0 to 1.', 'cpu'],
  ['memory_used_bytes', 'Memory that is not available to programs.', 'memoryUsed'],
  ['memory_size_bytes', 'Memory of the host.', 'memoryTotal'],
  ['swap_used_bytes', 'Used swap space.', 'swapUsed'],
  ['swap_size_bytes', 'Size of the swap space.', 'swapTotal'],
  ['load1', 'Mean number of runnable processes over a minute.', 'load'],
  ['network_receive_bytes_per_second', 'Received traffic.', 'networkReceived'],
  ['network_transmit_bytes_per_second', 'Sent traffic.', 'networkSent'],
  ['disk_read_bytes_per_second', 'Bytes read from disks.', 'diskRead'],
  ['disk_written_bytes_per_second', 'Bytes written to disks.', 'diskWritten'],
  ['temperature_celsius', 'Temperature of the hottest sensor.', 'temperature'],
  ['processes', 'Number of processes.', 'processCount'],
];

/** Creates the route with the readings of all hosts, so that a single scrape covers every host. */
export const createHostMetricsRoute = ({
  fleet,
  hub,
  keeper,
}: {
  fleet: Fleet;
  hub: Hub;
  keeper: HostKeeper;
}): Route => {
  const meters = createMeters();
  const add = (name: string, help: string, readValue: (host: ShownHost) => number | null | undefined): void => {
    meters.reading(
      'gauge',
      `signalbox_remote_host_${name}`,
      help,
      () =>
        keeper.list().flatMap((known) => {
          const host = hub.show(known);
          const value = readValue(host);
          return typeof value === 'number' ? [[[host.name], value] as const] : [];
        }),
      ['host'],
    );
  };
  add('up', '1 while the host reports, otherwise 0.', ({ state }) => Number(state === 'up' || state === 'late'));
  add('last_report_timestamp_seconds', 'Unix time of the last report.', ({ lastReportAt }) =>
    lastReportAt === null ? null : Date.parse(lastReportAt) / 1000,
  );
  add('open_incidents', 'Incidents of the host that are not resolved.', ({ openIncidents }) => openIncidents);
  add('uptime_seconds', 'Seconds since the host was started.', ({ uptimeSeconds }) => uptimeSeconds);
  add(
    'clock_skew_seconds',
    'Seconds by which the clock of the host is ahead.',
    ({ name }) => (fleet.find(name)?.skewMs ?? 0) / 1000,
  );
  for (const [name, help, key] of readingMeters) add(name, help, ({ readings }) => readings?.[key]);
  for (const [name, help, key] of [
    ['filesystem_used_bytes', 'Used space of each disk.', 'used'],
    ['filesystem_size_bytes', 'Used space, and space available to ordinary users.', 'total'],
  ] as const) {
    meters.reading(
      'gauge',
      `signalbox_remote_host_${name}`,
      help,
      () =>
        keeper
          .list()
          .flatMap((known) =>
            (fleet.find(known.name)?.report.readings.disks ?? []).map(
              (disk) => [[known.name, disk.mountPath], disk[key]] as const,
            ),
          ),
      ['host', 'mountpoint'],
    );
  }
  return defineRoute({
    method: 'GET',
    path: '/metrics/hosts',
    ...needs('metrics:read'),
    summary: 'Get the last readings of all hosts in the OpenMetrics format',
    schema: {
      operationId: 'getHostMetrics',
      response: { 200: { content: { 'application/openmetrics-text': { schema: Text } } } },
    },
    handler: async (_request, reply) => {
      await fleet.catchUp();
      return reply.type(openMetricsType).send(`${await readMetrics(meters)}# EOF\n`);
    },
  });
};
