import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CpuSeconds } from '../readings.ts';
import { toCpuShares } from './usage.ts';

const toSeconds = (user: number, idle: number, iowait = 0): CpuSeconds => new Map([['cpu', { user, idle, iowait }]]);

const share = (from: CpuSeconds, to: CpuSeconds) => toCpuShares(from, to).get('cpu')?.toFixed(4);

test('the processor share covers the time between two samples, of which waiting for a disk is idle', () => {
  assert.equal(share(toSeconds(1, 9), toSeconds(1.3, 9.5, 0.2)), '0.3000');
});

test('a processor whose counters stand still or step back is not busy', () => {
  assert.equal(share(toSeconds(5, 5), toSeconds(5, 5)), '0.0000');
  assert.equal(share(toSeconds(5, 5), toSeconds(4, 16)), '0.0000');
});

test('the processor share is never more than one', () => {
  assert.equal(share(toSeconds(0, 10), toSeconds(12, 8)), '1.0000');
});

test('a processor that was just switched on is measured from its own start', () => {
  assert.equal(share(new Map(), toSeconds(1, 3)), '0.2500');
});
