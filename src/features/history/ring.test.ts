import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alertsAt, columnCount, Ring, toLongerSteps } from './ring.ts';

test('longer steps have means of measurements and sums of alerts, and gaps without rows', () => {
  const ring = new Ring(1, 60);
  const set = (time: number, cpu: number, alerts: number): void => {
    const row = Array.from({ length: columnCount }, () => Number.NaN);
    row[0] = cpu;
    row[alertsAt] = alerts;
    ring.set(time, row);
  };
  // Steps of 5 s: two rows, four rows with a gap, no row, one row.
  for (const [time, cpu, alerts] of [
    [103, 0.2, 1],
    [104, 0.4, 0],
    [105, 0, 2],
    [106, 1, 0],
    [107, Number.NaN, 0],
    [109, 0.5, 1],
    [115, 0.75, 0],
  ] as const) {
    set(time, cpu, alerts);
  }
  const { ring: longer, from, to } = toLongerSteps(ring, 5, { from: 103, to: 115 });
  assert.deepEqual([from, to, longer.step], [100, 115, 5]);
  const round = (value: number): number => Math.round(value * 1000) / 1000;
  assert.deepEqual([...longer.list(0, from, to)].map(round), [0.3, 0.5, Number.NaN, 0.75]);
  assert.deepEqual([...longer.list(alertsAt, from, to)], [1, 3, Number.NaN, 0]);
});
