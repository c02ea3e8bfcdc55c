import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bindTo, parseCpuList } from './cores.ts';

test('a CPU list is parsed as single numbers and ranges', () => {
  assert.deepEqual(parseCpuList('0-2,5\n'), [0, 1, 2, 5]);
  assert.deepEqual(parseCpuList(''), []);
});

test('a command is pinned to a processor, or unchanged without one', () => {
  assert.deepEqual(bindTo(undefined, ['node', 'x.js']), ['node', 'x.js']);
  assert.deepEqual(bindTo(1, ['node', 'x.js']), ['taskset', '--cpu-list', '1', 'node', 'x.js']);
});
