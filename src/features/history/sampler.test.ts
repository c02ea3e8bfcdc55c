import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FileSystemReading, Usage } from '../../host/readings.ts';
import { createSampler } from './index.ts';
import { alertsAt, disksAt, Ring } from './ring.ts';

const start = 1_800_000_000;

const usage: Usage = {
  cpu: 0.25,
  memoryUsed: 600,
  memoryTotal: 1000,
  swapUsed: 0,
  load: 0.5,
  networkReceived: 100,
  networkSent: 0,
};

/** Creates a sampler of a machine with 25 % CPU usage and one error per second. */
const createSampled = () => {
  let seconds = 0;
  const disk = { mountPath: '/', usedBytes: 30, availableBytes: 70 } as FileSystemReading;
  const fine = new Ring(1, 600);
  const coarse = new Ring(10, 8640);
  const sampler = createSampler({
    host: { disksOfMinute: async () => [disk] },
    countAlerts: () => ({ error: seconds }),
    fine,
    coarse,
    disks: [],
    onRows: () => undefined,
  });
  return {
    fine,
    coarse,
    sampleAt: (time: number): void => {
      seconds = time - start;
      sampler.sample(time, usage);
    },
  };
};

const list = (ring: Ring, column: number, from: number, to: number): number[] => [...ring.list(column, from, to)];

test('a day of samples leaves 10 minutes in steps of 1 s and 24 hours in steps of 10 s', () => {
  const { fine, coarse, sampleAt } = createSampled();
  const end = start + 25 * 3600;
  for (let time = start; time <= end; time += 1) sampleAt(time);
  assert.deepEqual(fine.findRange(0, end), { from: end - 599, to: end });
  assert.deepEqual(coarse.findRange(0, end), { from: end - 8639 * 10, to: end - 10 });
  assert.ok(list(fine, 0, end - 599, end).every((share) => share === 0.25));
  assert.ok(list(coarse, alertsAt + 1, end - 86_000, end - 10).every((count) => count === 10));
  assert.ok(list(coarse, 5, end - 86_000, end - 10).every((bytes) => bytes === 100));
  assert.ok(fine.bytes.length + coarse.bytes.length < 4 * 1024 * 1024);
});

test('a second that a late timer skips gets the values of the next second, and its alerts are counted once', () => {
  const { fine, sampleAt } = createSampled();
  for (const time of [start, start + 1, start + 3]) sampleAt(time);
  assert.deepEqual(list(fine, 0, start + 1, start + 3), [0.25, 0.25, 0.25]);
  assert.deepEqual(list(fine, alertsAt + 1, start + 1, start + 3), [1, 0, 2]);
});

test('alerts before the first sample or during a suspend are counted in the next row', () => {
  const { fine, sampleAt } = createSampled();
  for (const time of [start + 5, start + 6, start + 7, start + 100, start + 101, start + 102]) sampleAt(time);
  assert.deepEqual(list(fine, alertsAt + 1, start + 6, start + 7), [6, 1]);
  assert.deepEqual(list(fine, alertsAt + 1, start + 101, start + 102), [94, 1]);
});

test('the time of a suspend or a change of the clock is unknown', () => {
  const { fine, sampleAt } = createSampled();
  for (const time of [start, start + 1, start + 100, start + 101]) sampleAt(time);
  assert.deepEqual(list(fine, 0, start + 1, start + 2), [0.25, NaN]);
  assert.deepEqual(list(fine, 0, start + 100, start + 101), [NaN, 0.25]);
  sampleAt(start + 50);
  sampleAt(start + 51);
  assert.deepEqual(list(fine, 0, start + 50, start + 51), [NaN, 0.25]);
});

test('disks have their used and total bytes', async () => {
  const { fine, sampleAt } = createSampled();
  sampleAt(start);
  await new Promise((resolve) => setImmediate(resolve));
  sampleAt(start + 1);
  assert.deepEqual(
    [disksAt, disksAt + 1].map((column) => list(fine, column, start + 1, start + 1)),
    [[30], [100]],
  );
});
