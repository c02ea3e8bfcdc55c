import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseArguments } from './arguments.ts';

test('row ids are accepted in any case, and a run defaults to five rounds of one second', () => {
  const { ids, rounds, seconds, isFull, markdown } = parseArguments(['b2', 'B3']);
  assert.deepEqual([ids, rounds, seconds, isFull, markdown], [['B2', 'B3'], 5, 1, false, undefined]);
});

test('flags set the number and length of rounds, the size, the folder and the output file', () => {
  const args = ['--rounds', '9', '--seconds', '3', '--full', '--folder', 'here', '--markdown', 'table.md'];
  assert.deepEqual(parseArguments(args), {
    ids: [],
    rounds: 9,
    seconds: 3,
    isFull: true,
    folder: 'here',
    markdown: 'table.md',
  });
});

test('fewer than five rounds, values that are not numbers and unknown flags are refused', () => {
  for (const args of [['--rounds', '4'], ['--seconds', '0.5'], ['--rounds', 'many'], ['--fast']]) {
    assert.throws(() => parseArguments(args), Error, args.join(' '));
  }
});
