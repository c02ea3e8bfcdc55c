import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toProcessorReadings } from './processors.ts';

const twoPackages = {
  ...{ manufacturer: 'Intel', brand: 'Xeon Gold', speed: 2.1, speedMax: 3.7 },
  ...{ cores: 8, physicalCores: 4, processors: 2, cache: { l2: 4 * 2 ** 20, l3: 44 * 2 ** 20 } },
};

test('each package gets its share of cores, caches and load', () => {
  const shares = new Map([1, 1, 1, 1, 0, 0, 0, 1].map((share, index) => [`cpu${index}`, share]));
  const readings = toProcessorReadings(twoPackages, shares.set('cpu', 0.5));
  assert.deepEqual(readings[1], {
    ...{ id: 'CPU1', name: 'Intel Xeon Gold', manufacturer: 'Intel', maxMHz: 3700, currentMHz: 2100 },
    ...{ cores: 2, logicalProcessors: 4, loadPercent: 25, l2CacheKB: 2048, l3CacheKB: 22528 },
  });
  assert.deepEqual(
    readings.map(({ loadPercent }) => loadPercent),
    [100, 25],
  );
});

test('values that systeminformation leaves empty or 0 are null', () => {
  const nothing = {
    ...{ manufacturer: '', brand: '', speed: 0, speedMax: 0, cores: 1, physicalCores: 0, processors: 0 },
    cache: { l2: 0, l3: 0 },
  };
  assert.deepEqual(toProcessorReadings(nothing, new Map()), [
    {
      ...{ id: 'CPU0', name: null, manufacturer: null, maxMHz: null, currentMHz: null, cores: null },
      ...{ logicalProcessors: 1, loadPercent: 0, l2CacheKB: null, l3CacheKB: null },
    },
  ]);
});
