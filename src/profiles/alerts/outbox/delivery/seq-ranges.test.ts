import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../../../test/support/random.ts';
import { SeqRanges } from './seq-ranges.ts';

const most = 40;
const all = Array.from({ length: most }, (_, n) => n + 1);

const steps = fc.array(fc.record({ isAdded: fc.boolean(), seq: fc.integer({ min: 1, max: most }), more: fc.nat(6) }), {
  maxLength: 60,
});

test('ranges hold the numbers that a set holds after the same steps', () => {
  fc.assert(
    fc.property(fc.nat(5), steps, (start, list) => {
      const ranges = new SeqRanges(start);
      const set = new Set(Array.from({ length: start + 1 }, (_, n) => n));
      for (const { isAdded, seq, more } of list) {
        if (isAdded) {
          ranges.add(seq, seq + more);
          for (let n = seq; n <= seq + more; n += 1) set.add(n);
        } else {
          ranges.remove(seq);
          set.delete(seq);
        }
        const missing = all.filter((n) => !set.has(n));
        assert.deepEqual(
          all.filter((n) => !ranges.has(n)),
          missing,
        );
        assert.equal(ranges.countMissing(most), missing.length);
        for (const n of all) {
          let next = n + 1;
          while (set.has(next)) next += 1;
          assert.equal(ranges.nextMissing(n), next);
        }
        assert.equal(ranges.start, ranges.nextMissing(0) - 1);
        for (const [index, [first, last]] of ranges.list().entries()) {
          assert.ok(first <= last && first > (ranges.list()[index - 1]?.[1] ?? -2) + 1);
        }
      }
    }),
  );
});
