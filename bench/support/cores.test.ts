import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bindTo, chooseCores, parseCpuList } from './cores.ts';

test('a CPU list is parsed as single numbers and ranges', () => {
  assert.deepEqual(parseCpuList('0-2,5\n'), [0, 1, 2, 5]);
  assert.deepEqual(parseCpuList(''), []);
});

test('server and load get different processors, on different cores if possible', () => {
  assert.deepEqual(chooseCores([0, 1, 2, 3], [0, 1]), { server: 0, load: 2 });
  assert.deepEqual(chooseCores([2, 3], [2, 3]), { server: 2, load: 3 });
});

test('a machine with one processor binds nothing', () => {
  assert.equal(chooseCores([4], [4]), undefined);
  assert.deepEqual(bindTo(undefined, ['node', 'x.js']), ['node', 'x.js']);
  assert.deepEqual(bindTo(1, ['node', 'x.js']), ['taskset', '--cpu-list', '1', 'node', 'x.js']);
});
