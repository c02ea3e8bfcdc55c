import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createLineReader } from './lines.ts';

test('lines come back whole however the output is cut', () => {
  const lines = fc.array(fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\n')));
  fc.assert(
    fc.property(lines, fc.integer({ min: 1, max: 7 }), (expected, size) => {
      const found: (string | undefined)[] = [];
      const read = createLineReader((line) => found.push(line) > 0, 1000);
      const bytes = Buffer.from(expected.map((line) => `${line}\n`).join(''));
      for (let at = 0; at < bytes.length; at += size) read(bytes.subarray(at, at + size));
      assert.deepEqual(
        found,
        expected.map((line) => Buffer.from(line).toString()),
      );
    }),
  );
});

test('a line that is too long is left out, and reading ends when no more is wanted', () => {
  const found: (string | undefined)[] = [];
  const read = createLineReader((line) => found.push(line) < 3, 4);
  assert.ok(read(Buffer.from('abcd\nabc')));
  assert.ok(read(Buffer.from('def')));
  assert.ok(!read(Buffer.from('ghi\nxy\nz\n')));
  assert.deepEqual(found, ['abcd', undefined, 'xy']);
});
