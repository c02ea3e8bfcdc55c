import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCpuList, pin } from './machine.ts';

test('a CPU list is parsed as single numbers and ranges', () => {
  assert.deepEqual(parseCpuList('0-2,5\n'), [0, 1, 2, 5]);
  assert.deepEqual(parseCpuList(''), []);
});

test('a command is pinned to the processor for its place, or unchanged for any', () => {
  const cores = { server: 0, load: 1 };
  assert.deepEqual(pin('any', ['node', 'x.js'], cores), ['node', 'x.js']);
  assert.deepEqual(pin('load', ['node', 'x.js'], cores), ['taskset', '--cpu-list', '1', 'node', 'x.js']);
});
