import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCounters, toCpuSeconds } from './counters.ts';

test('all processors together are the sum of each', () => {
  const times = { user: 3000, nice: 1000, sys: 1000, irq: 500, idle: 4500 };
  const first = { user: 3, nice: 1, system: 1, idle: 4.5, irq: 0.5 };
  assert.deepEqual(
    [...toCpuSeconds([{ times }, { times: { ...times, idle: 14_500 } }])],
    [
      ['cpu', { user: 6, nice: 2, system: 2, idle: 19, irq: 1 }],
      ['cpu0', first],
      ['cpu1', { ...first, idle: 14.5 }],
    ],
  );
});

test('the processors of this machine have been busy and idle', () => {
  const { user = 0, idle = 0 } = readCounters().cpuSeconds.get('cpu') ?? {};
  assert.ok(user > 0 && idle > 0);
});
