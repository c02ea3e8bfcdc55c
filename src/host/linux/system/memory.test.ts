import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { eventually, inEnglish, toLines } from '../../testing.ts';
import { parseMemory, readMemory } from './memory.ts';

test('figures are bytes', () => {
  const meminfo =
    'MemTotal:  24684084 kB\nMemFree: 1 kB\nMemAvailable:  200 kB\nSwapTotal: 8 kB\nSwapFree: 4 kB\n';
  assert.deepEqual(parseMemory(meminfo), {
    total: 24684084 * 1024,
    available: 200 * 1024,
    swapTotal: 8192,
    swapFree: 4096,
  });
});

test('the figures are those that free shows', async () => {
  await eventually(async () => {
    const [, memory = '', swap = ''] = toLines(execFileSync('free', ['--bytes'], inEnglish));
    const { total, available, swapTotal, swapFree } = await readMemory('/proc');
    const [, shownTotal, , , , , shownAvailable] = memory.split(/\s+/).map(Number);
    assert.equal(total, shownTotal);
    assert.ok(Math.abs(available - (shownAvailable ?? 0)) < total / 100, `${available}, ${shownAvailable}`);
    assert.deepEqual([swapTotal, swapTotal - swapFree], swap.split(/\s+/).slice(1, 3).map(Number));
  });
});
