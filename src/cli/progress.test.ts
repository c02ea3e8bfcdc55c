import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeProgress } from './progress.ts';

test('progress shows the completed share, and the remaining time once it can be estimated', () => {
  for (const [done, total, elapsedMs, text] of [
    [0, 100, 1000, 'Exporting: 0 %'],
    [1, 100, 10_000, 'Exporting: 1 %'],
    [50, 100, 10_000, 'Exporting: 50 %, 10 s left'],
    [25, 100, 60_000, 'Exporting: 25 %, 3 min left'],
    [999, 1000, 1000, 'Exporting: 99 %, 1 s left'],
    [12_345_678, undefined, 5000, 'Exporting: 12 MB'],
    [2_000_000, 1_000_000, 5000, 'Exporting: 2 MB'],
  ] as const) {
    assert.equal(describeProgress('Exporting', done, total, elapsedMs), text);
  }
});
