import { openFor } from '../../auth/access.ts';
import type { HostReadings, HostSample, Usage } from '../../host/readings.ts';
import { defineFeature } from '../../kit/feature.ts';
import { History, hostColumns, severityNames } from '../../kit/machine.ts';
import type { HistoryColumn } from '../../kit/offers.ts';
import { createEventTopic } from '../../kit/topic.ts';
import { createDocuments, createHistoryRoute, toDocument } from './document.ts';
import {
  alertsAt,
  createSums,
  type Disks,
  disksAt,
  loadHistory,
  maxDisks,
  Ring,
  saveHistory,
  toLongerSteps,
} from './ring.ts';

/** Milliseconds between two writes of the file. */
const saveInterval = 5 * 60 * 1000;

/** Seconds of history available to other features, and seconds per step. */
const recentSpan = 600;
const recentStep = 5;

/** Feature that records the machine's history: 10 minutes in steps of 1 s, and 24 hours in steps of 10 s. */
export const history = defineFeature({
  name: 'history',
  profiles: [{ name: 'history', mounts: ['/'], summary: 'readings and alerts of the last 24 hours' }],
  settings: {},
  create: async ({ host, offers, storage, clock, log }) => {
    const file = storage.file('history.bin');
    const fine = new Ring(1, 600);
    const coarse = new Ring(10, 8640);
    const rings = [fine, coarse];
    const disks = await loadHistory(file, rings);
    const { topic, publish } = createEventTopic(openFor('machine:read'), History);
    const documents = createDocuments();
    const sampler = createSampler({
      host,
      countAlerts: () => offers.alerts?.countReceived() ?? {},
      fine,
      coarse,
      disks,
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
    // Writes must not overlap, because all use one temporary file.
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
      offers: {
        history: {
          readRecent: () => {
            const now = Math.floor(clock().getTime() / 1000);
            const range = fine.findRange(now - recentSpan + 1, now);
            return range ? toDocument({ ...toLongerSteps(fine, recentStep, range), disks }) : null;
          },
          step: coarse.step,
          list: (column, count) => {
            const index = toIndex(column, disks);
            // The row of the current step does not exist yet.
            const to = coarse.align(Math.floor(clock().getTime() / 1000)) - coarse.step;
            return index < 0 ? [] : [...coarse.list(index, to - (count - 1) * coarse.step, to)];
          },
        },
      },
      start: () => {
        // Starts in step with Node's connection timer, so that an idle server wakes up only once for both.
        leave = host.listen(take);
      },
      close: async () => {
        leave?.();
        if (leave) await save();
      },
    };
  },
});

/** Returns the index of a column in the rings. Negative for a disk without columns. */
const toIndex = (column: HistoryColumn, disks: Disks): number => {
  if (typeof column === 'string') return hostColumns.indexOf(column);
  const slot = disks.indexOf(column.mountPath);
  return slot < 0 ? -1 : disksAt + 2 * slot + (column.of === 'used' ? 0 : 1);
};

interface SamplerParts {
  host: Pick<HostReadings, 'disksOfMinute'>;
  /** Returns the number of alerts stored so far, by severity. */
  countAlerts(): Record<string, number>;
  /** Ring with steps of one second. */
  fine: Ring;
  /** Ring with longer steps. */
  coarse: Ring;
  /** Names of the disks. Changes when disks are mounted or unmounted. */
  disks: Disks;
  /** Called after rows of a ring have been stored. `from` and `to` are Unix seconds, both inclusive. */
  onRows(ring: Ring, from: number, to: number): void;
}

/** Seconds between disk readings. Each reading wakes an idle program several times, so the interval is long. */
const diskInterval = 60;

/** Maximum seconds between two samples before a gap appears in the history. A suspended machine exceeds it. */
const maxGap = 5;

/** Records the machine's usage. Call `sample` about once a second with the Unix time in seconds. */
export const createSampler = ({ host, countAlerts, fine, coarse, disks, onRows }: SamplerParts) => {
  let before: number | undefined;
  /** Alerts counted in rows so far, by severity. The first row includes all earlier alerts. */
  let counted: Record<string, number> = {};
  const diskValues = new Float64Array(2 * maxDisks).fill(NaN);
  const sums = createSums();
  let isReadingDisks = false;
  const readDisks = async (time: number): Promise<void> => {
    if (isReadingDisks) return;
    isReadingDisks = true;
    const found = await host.disksOfMinute().catch(() => []);
    isReadingDisks = false;
    diskValues.fill(NaN);
    const mounted = found.map(({ mountPath }) => mountPath);
    assignDisks(disks, mounted, [fine, coarse], time);
    for (const { mountPath, usedBytes, availableBytes } of found) {
      const index = disks.indexOf(mountPath);
      // As in `df`, space reserved for root is neither used nor free.
      if (index >= 0) diskValues.set([usedBytes, usedBytes + availableBytes], 2 * index);
    }
  };
  return {
    sample: (now: number, usage: Usage): void => {
      const time = Math.floor(now);
      if (before === time) return;
      const seconds = before === undefined ? 0 : time - before;
      if (before !== undefined && seconds > 0 && seconds <= maxGap) {
        const alerts = countAlerts();
        const row = [...hostColumns.map((name) => usage[name]), ...toRates(counted, alerts), ...diskValues];
        counted = alerts;
        // A late timer may skip a second. That second gets the values of the next one.
        for (let at = before + 1; at < time; at += 1) fine.set(at, withoutAlerts(row));
        fine.set(time, row);
        onRows(fine, before + 1, time);
        if (coarse.align(before) !== coarse.align(time)) {
          coarse.set(before, sums.take());
          onRows(coarse, coarse.align(before), coarse.align(before));
        }
        if (Math.floor(before / diskInterval) !== Math.floor(time / diskInterval)) void readDisks(time);
        sums.add(row);
      } else {
        sums.take();
        void readDisks(time);
      }
      before = time;
    },
  };
};

const toRates = (before: Record<string, number>, now: Record<string, number>): number[] =>
  severityNames.map((level) => (now[level] ?? 0) - (before[level] ?? 0));

const withoutAlerts = (row: readonly number[]): number[] =>
  row.map((value, column) => (column >= alertsAt && column < disksAt ? 0 : value));

/**
 * Assigns a pair of columns to each mounted disk. An unmounted disk keeps its columns while the rings contain readings
 * from the disk. If columns run out, the disk that was unmounted first loses its columns first.
 */
const assignDisks = (disks: Disks, mounted: readonly string[], rings: readonly Ring[], now: number): void => {
  const lastSeen = (slot: number): number => Math.max(...rings.map((ring) => ring.findLast(disksAt + 2 * slot, now)));
  const isGone = (mountPath: string): boolean => !mounted.includes(mountPath);
  for (const [slot, mountPath] of disks.entries()) {
    if (isGone(mountPath) && lastSeen(slot) === 0) disks[slot] = '';
  }
  for (const mountPath of mounted) {
    if (disks.includes(mountPath)) continue;
    if (disks.length < maxDisks && !disks.includes('')) disks.push('');
    const [slot] = [...disks.keys()]
      .filter((each) => isGone(disks[each] as string))
      .sort((a, b) => lastSeen(a) - lastSeen(b));
    if (slot === undefined) return;
    disks[slot] = mountPath;
    for (const ring of rings) {
      for (const column of [0, 1]) ring.clear(disksAt + 2 * slot + column);
    }
  }
};
