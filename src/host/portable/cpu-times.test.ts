import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCpuTimes, toCpuSample } from './cpu-times.ts';

test('all processors together are the sum of each', () => {
  const times = { user: 30, nice: 10, sys: 10, irq: 5, idle: 45 };
  assert.deepEqual(
    [...toCpuSample([{ times }, { times: { ...times, idle: 145 } }])],
    [
      ['cpu0', { busy: 55, total: 100 }],
      ['cpu1', { busy: 55, total: 200 }],
      ['cpu', { busy: 110, total: 300 }],
    ],
  );
});

test('this machine has counted', () => {
  const { busy = 0, total = 0 } = readCpuTimes().get('cpu') ?? {};
  assert.ok(busy > 0 && busy < total);
});
