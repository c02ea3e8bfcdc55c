import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { parseArguments } from './run.ts';

test('a run without arguments measures all rows in five rounds of one second and writes the page', () => {
  const expected = {
    ids: [],
    rounds: 5,
    seconds: 1,
    isLong: false,
    folder: tmpdir(),
    page: 'bench/results.md',
  };
  assert.deepEqual(parseArguments([]), expected);
});

test('a run of selected rows, in any case, or of fewer than five rounds writes no page', () => {
  const { ids, page } = parseArguments(['b2', 'B3', '--folder', 'here', '--long']);
  assert.deepEqual([ids, page], [['b2', 'b3'], undefined]);
  assert.equal(parseArguments(['--rounds', '4']).page, undefined);
});

test('values that are not numbers and unknown flags are refused', () => {
  for (const args of [['--rounds', '0'], ['--seconds', '0.5'], ['--rounds', 'many'], ['--fast']]) {
    assert.throws(() => parseArguments(args), Error, args.join(' '));
  }
});
