import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import { estimateSize, maxExpressionSize } from './expression-size.ts';

test('the estimate of an expression is at least the size of its program', () => {
  const atom = fc.constantFrom(
    'a',
    '[ab]',
    '.',
    '\\d',
    '\\pL',
    '(?:',
    '(',
    ')',
    '|',
    '*',
    '+',
    '{3}',
    '{2,}',
    '{1,4}',
    '{0,2}',
    '\\Qa*\\E',
  );
  fc.assert(
    fc.property(fc.array(atom, { maxLength: 14 }), (atoms) => {
      const expression = atoms.join('');
      let size: number;
      try {
        size = RE2JS.compile(expression).programSize();
      } catch {
        return;
      }
      // Every program has two extra instructions, and each alternative or repetition adds one.
      assert.ok(size <= 3 * estimateSize(expression) + 4, `${expression}: ${size}, ${estimateSize(expression)}`);
    }),
    { numRuns: 3000 },
  );
});

test('nested repetitions and Unicode classes are found too large without compiling them', () => {
  const large = [
    'a{1000}{2}',
    '((a{100}){100}){100}',
    '\\pL{1000}',
    '(?i)[a-\\x{ffff}]{20}',
    `${'a{1000}'.repeat(140)}`,
    '(?i)[\\pL\\pM]{50}',
  ];
  for (const expression of large) assert.ok(!(estimateSize(expression) <= maxExpressionSize), expression);
  for (const expression of [
    'web-[0-9]+',
    '[ab]*a[ab]{90}c',
    '\\pL+',
    '[[:alpha:]]{3,5}',
    'x'.repeat(1000),
    '\\{1000}',
  ]) {
    assert.ok(estimateSize(expression) <= maxExpressionSize, expression);
  }
});
