import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Places } from './places.ts';

test('the place of a seq is the number of the records before or after the seq', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 60 })), fc.integer({ min: 0, max: 70 }), (some, seq) => {
      const seqs = some.toSorted((a, b) => a - b);
      const places = new Places();
      for (const each of seqs) places.add(each);
      assert.equal(places.until(seq), seqs.filter((each) => each <= seq).length);
      assert.equal(places.from(seq), seqs.filter((each) => each < seq).length + 1);
    }),
  );
});
