import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../../test/support/random.ts';
import { clean, cleanLines } from './clean-text.ts';

test('control characters are removed, and white space becomes one space', () => {
  assert.equal(clean('a\0b\u001b[31mc\u007f\u0090', 99), 'ab[31mc');
  assert.equal(clean(' a\r\n\tb\u2028c ', 99), 'a b c');
  assert.equal(clean('a\ud800b', 99), 'a\ufffdb');
});

test('a cut text ends with an ellipsis, and without half a character', () => {
  assert.equal(clean('x'.repeat(16), 16), 'x'.repeat(16));
  assert.equal(clean('x'.repeat(17), 16), `${'x'.repeat(15)}…`);
  assert.equal(clean(`${'x'.repeat(14)}🔴🔴`, 16), `${'x'.repeat(14)}…`);
  assert.equal(clean(`a${'\0'.repeat(100)}b`, 16), 'a…');
});

test('cleaning a clean text changes nothing', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), fc.integer({ min: 1, max: 100 }), (text, limit) => {
      const cleaned = clean(text, limit);
      assert.ok(cleaned.length <= limit);
      assert.doesNotMatch(cleaned, /\p{Cc}|\p{Cs}/u);
      assert.equal(clean(cleaned, limit), cleaned);
    }),
  );
});

test('cleaned lines stay lines, and are cut at the limit', () => {
  assert.equal(cleanLines('a\r\n  b\u001b[1m\n\nc', 99), 'a\nb[1m\n\nc');
  assert.equal(cleanLines(`${'x'.repeat(10)}\n${'y'.repeat(10)}`, 16), `${'x'.repeat(10)}\n${'y'.repeat(4)}…`);
});
