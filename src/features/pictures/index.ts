import { hostname } from 'node:os';
import Type from 'typebox';
import { createSharedReading } from '../../host/reading.ts';
import type { HostReadings, Usage } from '../../host/readings.ts';
import { defineFeature } from '../../kit/feature.ts';
import { captureMachine, toBoundedJson } from './capture.ts';
import { FilePictureStore, SharedPictureStore } from './picture-store.ts';
import { PictureTaker, pictureOutcomes } from './picture-taker.ts';
import { createPictureRoutes } from './routes.ts';
import { pictureTransfer } from './transfer.ts';

/** Milliseconds between startup and the first sweep, and between two sweeps. */
const firstSweepMs = 60_000;
const sweepMs = 60 * 60 * 1000;

/** Milliseconds for which the names of the machine are cached. */
const namesMaxAgeMs = 60_000;

/** CPU time that a picture takes, in milliseconds. Does not include the two readings of the processes. */
const fixedCpuMs = 15;

/** Feature that takes pictures of the machine when an incident opens. */
export const pictures = defineFeature({
  name: 'pictures',
  needs: ['incidents'],
  profiles: [
    {
      name: 'snapshots',
      aliases: ['incidents'],
      mounts: ['/'],
      summary: 'pictures of the machine at the time when an incident opened',
      fixedAccess: 'closed',
    },
  ],
  settings: {
    snapshots: Type.Boolean({
      default: true,
      description:
        'Take a picture of this machine when an incident of level ERROR or CRITICAL about the machine opens.',
    }),
  },
  transfer: pictureTransfer,
  create: ({ settings, offers: { incidents, history }, host, storage, meters, clock, log }) => {
    const store = storage.database
      ? new SharedPictureStore(storage.database, hostname())
      : new FilePictureStore(storage.folder('snapshots'));
    const counted = meters.counter(
      'signalbox_snapshots_total',
      'Pictures of the machine, by result: taken, or the reason why no picture was taken.',
      ['result'],
      pictureOutcomes,
    );
    let usage: Usage | undefined;
    const taker = new PictureTaker(
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
    );
    incidents.onChanged((changed) => taker.consider(changed));
    // After a failure, the next sweep tries again.
    const sweep = (): void => void taker.sweep().catch(() => undefined);
    let leave: (() => void) | undefined;
    let sweeping: NodeJS.Timeout | undefined;
    return {
      profiles: {
        snapshots: createPictureRoutes({ store, incidents, explain: (incident) => taker.explain(incident) }),
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
        taker.isOn = changed.snapshots;
        return [];
      },
      close: async () => {
        leave?.();
        clearTimeout(sweeping);
        await taker.close();
      },
    };
  },
});

/** Returns the names of this machine in alerts, with and without the domain, in lower case. */
const listNames = async (host: Pick<HostReadings, 'hostname' | 'system'>): Promise<string[]> => {
  const name = host.hostname().toLowerCase();
  const { domain } = await host.system();
  const short = name.split('.', 1).join();
  return [name, short, ...(domain ? [`${short}.${domain.toLowerCase()}`] : [])];
};
