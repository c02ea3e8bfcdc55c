import { hostname } from 'node:os';
import Type from 'typebox';
import { createSharedReading } from '../../host/reading.ts';
import type { HostReadings, Usage } from '../../host/readings.ts';
import { defineFeature } from '../../kit/feature.ts';
import { captureMachine, toBoundedJson } from './capture.ts';
import { createSnapshotRoutes } from './routes.ts';
import { FileSnapshotStore, SharedSnapshotStore } from './store.ts';
import { outcomes, SnapshotTaker } from './taker.ts';

/** Milliseconds until the first look for snapshots of incidents that are gone, and between two. */
const firstSweepMs = 60_000;
const sweepMs = 60 * 60 * 1000;

/** A machine is renamed rarely. */
const namesMaxAgeMs = 60_000;

/** Milliseconds of processor time that one takes however many processes there are: they are read twice, and ordered. */
const fixedCpuMs = 15;

/** What the machine was doing when something went wrong on it. */
export const snapshots = defineFeature({
  name: 'snapshots',
  profiles: [
    {
      name: 'snapshots',
      aliases: ['incidents'],
      mounts: ['/'],
      summary: 'what the machine was doing when an incident opened',
      fixedAccess: 'closed',
    },
  ],
  settings: {
    snapshots: Type.Boolean({
      default: true,
      description: 'Record what this machine is doing when an incident of level ERROR or CRITICAL about it opens.',
    }),
  },
  create: ({ settings, offers: { incidents, history }, host, storage, meters, clock, log }) => {
    const store = storage.database
      ? new SharedSnapshotStore(storage.database, hostname())
      : new FileSnapshotStore(storage.folder('snapshots'));
    const labels = ['result'];
    const counted = meters.counter(
      'signalbox_snapshots_total',
      'Snapshots, and why they were not taken.',
      labels,
      outcomes,
    );
    let usage: Usage | undefined;
    const taker = incidents
      ? new SnapshotTaker(
          {
            store,
            incidents,
            clock,
            log,
            listNames: createSharedReading(() => listNames(host), namesMaxAgeMs),
            estimateMs: async () => fixedCpuMs + 3 * (await host.processReadingMs()),
            capture: async () => toBoundedJson(await captureMachine({ host, usage: () => usage, history, clock })),
            count: (outcome) => {
              counted.at(outcome).value += 1;
            },
          },
          settings.snapshots,
        )
      : undefined;
    if (taker) incidents?.onChanged((changed) => taker.consider(changed));
    // While a store cannot be used, nothing is deleted.
    const sweep = (): void => void taker?.sweep().catch(() => undefined);
    let leave: (() => void) | undefined;
    let sweeping: NodeJS.Timeout | undefined;
    return {
      profiles: {
        snapshots: createSnapshotRoutes({
          store,
          incidents,
          explain: async (incident) => (await taker?.explain(incident)) ?? '',
        }),
      },
      start: () => {
        leave = host.listen((sample) => {
          usage = sample.usage;
        });
        sweeping = setTimeout(() => {
          sweep();
          sweeping = setInterval(sweep, sweepMs).unref();
        }, firstSweepMs).unref();
      },
      reload: (changed) => {
        if (taker) taker.isOn = changed.snapshots;
        return [];
      },
      close: async () => {
        leave?.();
        clearTimeout(sweeping);
        await taker?.close();
      },
    };
  },
});

/** What alerts call this machine: its name, with and without the domain. */
const listNames = async (host: Pick<HostReadings, 'hostname' | 'system'>): Promise<string[]> => {
  const name = host.hostname().toLowerCase();
  const { domain } = await host.system();
  const short = name.split('.', 1).join();
  return [name, short, ...(domain ? [`${short}.${domain.toLowerCase()}`] : [])];
};
