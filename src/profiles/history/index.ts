import type { HostSample } from '../../host/readings.ts';
import { defineFeature } from '../feature.ts';
import { createNoticeTopic } from '../topic.ts';
import { createDocuments, createHistoryRoute, History, toDocument } from './document.ts';
import { loadHistory, Ring, saveHistory } from './ring.ts';
import { createSampler } from './sampler.ts';

/** Milliseconds between two writes of the file. */
const saveInterval = 5 * 60 * 1000;

/** How the machine has developed: 10 minutes by the second, 24 hours by ten seconds. */
export const history = defineFeature({
  name: 'history',
  profiles: [{ name: 'history', mounts: ['/'], summary: 'readings and alerts of the last 24 hours' }],
  settings: {},
  create: async ({ host, meters, openSnapshot, clock, log }) => {
    const file = openSnapshot('history.bin');
    const fine = new Ring(1, 600);
    const coarse = new Ring(10, 8640);
    const rings = [fine, coarse];
    const disks = await loadHistory(file, rings);
    const { topic, publish } = createNoticeTopic('open', History);
    const documents = createDocuments();
    const sampler = createSampler({
      ...{ host, countAlerts: () => meters.sumBy('signalbox_alerts_received_total', 'level'), fine, coarse, disks },
      onRows: (ring, from, to) => {
        documents.forget(ring);
        publish(() => toDocument({ ring, disks, from, to }));
      },
    });
    let isFailing = false;
    const write = async (): Promise<void> => {
      try {
        await saveHistory(file, rings, disks);
        isFailing = false;
      } catch (err) {
        if (!isFailing) log.warn({ err }, 'history: the file cannot be written');
        isFailing = true;
      }
    };
    let saved = Promise.resolve();
    /** One at a time: the file is written in place before it is renamed. */
    const save = (): Promise<void> => {
      saved = saved.then(write);
      return saved;
    };
    let leave: (() => void) | undefined;
    let nextSave = performance.now() + saveInterval;
    const take = ({ usage }: HostSample): void => {
      sampler.sample(clock().getTime() / 1000, usage);
      if (performance.now() < nextSave) return;
      nextSave = performance.now() + saveInterval;
      void save();
    };
    return {
      profiles: { history: [createHistoryRoute({ rings, disks, documents, clock })] },
      topics: { history: topic },
      start: () => {
        // Begun together with Node's own timer for connections, so an idle server wakes up for both at once.
        leave = host.listen(take);
      },
      close: async () => {
        leave?.();
        if (leave) await save();
      },
    };
  },
});
