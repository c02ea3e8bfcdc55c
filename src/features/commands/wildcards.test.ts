import assert from 'node:assert/strict';
import { test } from 'node:test';
import { amount } from '../../../test/support/long.ts';
import { fc } from '../../../test/support/random.ts';
import { createAnyMatcher, createTextMatcher, hasWildcard, likeWildcards, nameWildcards } from './wildcards.ts';

test('a pattern matches the whole text, ignoring case', () => {
  const cases: [string, string, boolean][] = [
    ['node', 'NODE', true],
    ['node', 'nodejs', false],
    ['node*', 'node', true],
    ['*de?s', 'nodejs', true],
    ['*a*b', 'aab', true],
    ['*a*b', 'aba', false],
    ['?', '😀', true],
    ['?', '', false],
    ['', '', true],
    ['**', '', true],
    ['a.c', 'abc', false],
    ['a%', 'abc', false],
  ];
  for (const [pattern, text, expected] of cases) {
    assert.equal(createTextMatcher(pattern, nameWildcards)(text), expected, `${pattern} on ${text}`);
  }
  assert.ok(createTextMatcher('a%_', likeWildcards)('ABC'));
  assert.deepEqual(['a*', 'a?', 'a'].map(hasWildcard), [true, true, false]);
  assert.ok(createAnyMatcher(['x', 'y*'])('yes'));
  assert.ok(!createAnyMatcher([])('yes'));
});

test('a pattern matches the same texts as the equivalent regular expression', () => {
  const short = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), maxLength: 8 });
  fc.assert(
    fc.property(short, fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 }), (pattern, text) => {
      const expression = new RegExp(`^${pattern.replaceAll('*', '.*').replaceAll('?', '.')}$`);
      assert.equal(createTextMatcher(pattern, nameWildcards)(text), expression.test(text));
    }),
    { numRuns: amount(500, 5000) },
  );
});

test('a hostile pattern takes at most pattern length × text length steps', () => {
  const started = performance.now();
  assert.ok(!createTextMatcher(`${'*a'.repeat(64)}b`, nameWildcards)('a'.repeat(20_000)));
  assert.ok(performance.now() - started < 2000);
});
