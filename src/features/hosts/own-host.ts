import type { FastifyBaseLogger } from 'fastify';
import type { HostReadings } from '../../host/readings.ts';
import { ReportCollector } from '../../kit/host-report/collector.ts';
import { createPeriodic } from '../../kit/periodic.ts';
import type { Fleet } from './fleet.ts';
import type { HostKeeper } from './kind.ts';

/** Milliseconds between reports. One in every `processesEvery` reports includes processes. */
const reportMs = 10_000;
const processesEvery = 6;

interface OwnHostParts {
  fleet: Fleet;
  keeper: HostKeeper;
  host: HostReadings;
  version: string;
  clock: () => Date;
  log: Pick<FastifyBaseLogger, 'warn'>;
}

/** Creates the host that represents the machine of this server. It is shown as soon as another host exists. */
export const createOwnHost = ({ fleet, keeper, host, version, clock, log }: OwnHostParts) => {
  const collector = new ReportCollector(host, version, clock);
  const name = toHostName(host.hostname());
  let count = 0;
  let isFailing = false;
  const report = async (): Promise<void> => {
    // An agent on this machine may already be reporting for it.
    const isNeeded = keeper.list().length > 0 && (fleet.find(name)?.isHub ?? !keeper.find(name));
    if (!isNeeded) return;
    collector.start();
    if (!keeper.find(name)) await keeper.create(name, { tags: [], note: '' }, 'signalbox');
    const collected = await collector.collect(count % processesEvery === 0);
    count += 1;
    await fleet.take(name, collected, clock().getTime(), true);
    isFailing = false;
  };
  const work = createPeriodic(reportMs, report, (err) => {
    if (!isFailing) log.warn({ err }, 'hosts: the readings of this machine cannot be stored');
    isFailing = true;
  });
  return {
    start: work.start,
    close: async (): Promise<void> => {
      collector.stop();
      await work.close();
    },
  };
};

/** Converts the host name of the machine to a valid name for a host. */
const toHostName = (hostname: string): string =>
  hostname
    .replaceAll(/[^A-Za-z0-9._-]/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 64) || 'hub';
