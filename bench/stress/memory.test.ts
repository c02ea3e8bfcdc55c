import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toSlope } from './memory.ts';

test('toSlope returns the average growth per step, however much the values vary around it', () => {
  assert.equal(toSlope([5, 5, 5, 5]), 0);
  assert.equal(toSlope([1, 3, 5, 7]), 2);
  assert.equal(toSlope([9, 1, 1, 9]), 0);
});
