import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { makeParsedWellFormed } from './well-formed.ts';

/**
 * Strings with halves of surrogate pairs and whole pairs, and with backslashes before text that looks like an escape.
 */
const text = fc
  .array(fc.constantFrom('a', '\ud83d', '\ude00', '\ud83d\ude00', '\\', '\\ud83d', '"', '\n', '\ufffd'), {
    maxLength: 6,
  })
  .map((parts) => parts.join(''));

const { value } = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: 'small' }, text, fc.integer(), fc.constant(null), tie('list'), tie('object')),
  list: fc.array(tie('value'), { maxLength: 4 }),
  object: fc.dictionary(text, tie('value'), { maxKeys: 4 }),
}));

const expected = (given: unknown): unknown => {
  if (typeof given === 'string') return given.toWellFormed();
  if (Array.isArray(given)) return given.map(expected);
  if (typeof given !== 'object' || given === null) return given;
  return Object.fromEntries(Object.entries(given).map(([name, member]) => [name.toWellFormed(), expected(member)]));
};

test('a parsed value has U+FFFD for each half of a surrogate pair, and is the same otherwise', () => {
  fc.assert(
    fc.property(value, (given) => {
      const json = JSON.stringify(given);
      const names = new Set<string>();
      // If two names become equal, one of their members remains.
      JSON.parse(json, (name, member) => {
        names.add(name);
        return member;
      });
      fc.pre(new Set([...names].map((name) => name.toWellFormed())).size === names.size);
      assert.deepEqual(makeParsedWellFormed(json, JSON.parse(json)), expected(given));
    }),
    { numRuns: 500 },
  );
});

test('lists nested a hundred thousand levels deep are processed', () => {
  const depth = 100_000;
  const json = `${'['.repeat(depth)}"\\ud83d"${']'.repeat(depth)}`;
  let found = makeParsedWellFormed(json, JSON.parse(json));
  while (Array.isArray(found)) [found] = found;
  assert.equal(found, '\ufffd');
});
