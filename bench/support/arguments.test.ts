import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseArguments } from './arguments.ts';

test('rows are named in any case, and five rounds of a second are measured by default', () => {
  const { ids, rounds, seconds, isFull, markdown } = parseArguments(['b2', 'B3']);
  assert.deepEqual([ids, rounds, seconds, isFull, markdown], [['B2', 'B3'], 5, 1, false, undefined]);
});

test('flags set the rounds, their length, the size and where the table goes', () => {
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

test('fewer than five rounds, and what is no number or no flag, are refused', () => {
  for (const args of [['--rounds', '4'], ['--seconds', '0.5'], ['--rounds', 'many'], ['--fast']]) {
    assert.throws(() => parseArguments(args), Error, args.join(' '));
  }
});
