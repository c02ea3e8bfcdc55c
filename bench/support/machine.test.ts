import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCores, pin } from './machine.ts';

test('benchmarks pin servers to the first processor of a list, and load generators to the last', () => {
  assert.deepEqual(parseCores('\t0-2,5'), { server: '0', load: '5' });
  assert.deepEqual([parseCores('3'), parseCores('')], [undefined, undefined]);
});

test('a command is pinned to the processor of its role, and is not pinned for the role any', () => {
  const cores = { server: '0', load: '1' };
  assert.deepEqual(pin('any', ['node', 'x.js'], cores), ['node', 'x.js']);
  assert.deepEqual(pin('load', ['node', 'x.js'], cores), ['taskset', '--cpu-list', '1', 'node', 'x.js']);
});
