import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../test/support/random.ts';
import { Progress, SeqRanges } from './progress.ts';

const parked = { id: 'x', reason: 'y', time: 'z' };

/** The lines through JSON, as a journal keeps them, in a new progress. */
const replay = (lines: unknown[]): Progress => {
  const progress = new Progress(0);
  for (const line of lines) progress.apply(JSON.parse(JSON.stringify(line)));
  return progress;
};

test('the cursor stays before the oldest alert that is not settled', () => {
  const progress = new Progress(10);
  progress.settle(12);
  assert.equal(progress.cursor, 10);
  assert.deepEqual(
    [11, 12, 13].map((seq) => progress.isSettled(seq)),
    [false, true, false],
  );
  progress.park(13, parked);
  assert.deepEqual([progress.cursor, progress.countOpen(13), progress.nextOpen(11)], [10, 1, 14]);
  progress.settle(11);
  assert.equal(progress.cursor, 13);
});

test('alerts that retention deletes are counted and no longer hold the cursor', () => {
  const progress = new Progress(2);
  progress.setTried(3, { attempts: 1 });
  progress.settle(5);
  progress.drop(6);
  assert.deepEqual([progress.cursor, progress.dropped, progress.triedOf(3)], [6, 3, undefined]);
  progress.drop(5);
  progress.park(4, parked);
  assert.deepEqual([progress.cursor, progress.dropped, progress.parked.size], [6, 3, 0]);
});

test('parked alerts wait again, and count as dropped if the log no longer has them', () => {
  const progress = new Progress(0);
  progress.settle(1);
  for (const seq of [2, 3]) progress.park(seq, parked);
  progress.settle(4);
  assert.deepEqual(progress.unparkAll(7), [2, 3]);
  assert.deepEqual([progress.cursor, progress.parked.size, progress.countOpen(4)], [1, 0, 2]);
  assert.deepEqual(progress.triedOf(2), { attempts: 0, again: { id: 'x', at: 7 } });
  progress.lose(1, 2);
  assert.deepEqual([progress.cursor, progress.dropped], [2, 1]);
  progress.settle(3);
  assert.deepEqual([progress.cursor, progress.dropped], [4, 1]);
});

test('of more than 10,000 parked alerts the oldest are forgotten and counted', () => {
  const progress = new Progress(0);
  for (let seq = 1; seq <= 10_003; seq += 1) progress.park(seq, parked);
  assert.deepEqual([progress.parked.size, progress.forgotten, progress.cursor], [10_000, 3, 10_003]);
  assert.equal(progress.parked.has(3), false);
  const again = replay(progress.takeLines(true));
  assert.deepEqual([again.parked.size, again.forgotten], [10_000, 3]);
});

test('lines of version 1.0 are read: what was settled stays so, and attempts count', () => {
  const progress = replay([
    {
      checkpoint: true,
      start: 1,
      cursor: 2,
      settled: [],
      failing: [],
      dropped: 4,
      forgotten: 0,
      parked: [[2, parked]],
      unparked: [],
    },
    {
      ...{ start: 1, cursor: 3, settled: [5, 7], dropped: 4, forgotten: 0, parked: [], unparked: [] },
      failing: [[4, { attempts: 3, nextAt: 1, receivedAt: 1 }]],
    },
  ]);
  assert.deepEqual([progress.start, progress.cursor, progress.dropped, progress.parked.size], [1, 3, 4, 1]);
  assert.deepEqual(
    [4, 5, 6, 7, 8].filter((seq) => progress.isSettled(seq)),
    [5, 7],
  );
  assert.deepEqual(progress.triedOf(4), { attempts: 3 });
});

const steps = fc.array(
  fc.record({
    what: fc.constantFrom('ok', 'fail', 'park', 'row', 'line', 'checkpoint', 'unpark', 'again', 'drop', 'receiver'),
    pick: fc.nat(7),
  }),
  { maxLength: 60 },
);

test('progress read from its lines, from any checkpoint on, is the progress that wrote them', () => {
  fc.assert(
    fc.property(steps, (list) => {
      const progress = new Progress(3);
      const lines: unknown[] = progress.takeLines(true);
      for (const { what, pick } of list) {
        const seq = progress.nextOpen(progress.cursor + pick);
        if (what === 'checkpoint') lines.length = 0;
        if (what === 'line' || what === 'checkpoint') lines.push(...progress.takeLines(what === 'checkpoint'));
        else if (what === 'unpark') progress.unpark([...progress.parked.keys()][pick] ?? 0);
        else if (what === 'again') progress.unparkAll(pick);
        else if (what === 'drop') progress.drop(progress.cursor + pick);
        else if (what === 'row') progress.lose(seq, seq + pick);
        else if (what === 'ok') progress.settle(seq);
        else if (what === 'park') progress.park(seq, parked);
        else if (what === 'receiver') progress.receiver = { notBefore: pick };
        else progress.setTried(seq, { attempts: pick });
      }
      lines.push(...progress.takeLines(false));
      const again = replay(lines);
      const shown = (one: Progress) => ({
        ...{ start: one.start, cursor: one.cursor, dropped: one.dropped, receiver: one.receiver },
        settled: Array.from({ length: 600 }, (_, seq) => one.isSettled(seq)),
        tried: Array.from({ length: 600 }, (_, seq) => one.triedOf(seq)),
        parked: [...one.parked.keys()].sort((a, b) => a - b),
      });
      assert.deepEqual(shown(again), shown(progress));
    }),
  );
});

const most = 40;
const all = Array.from({ length: most }, (_, n) => n + 1);

const additions = fc.array(
  fc.record({ isAdded: fc.boolean(), seq: fc.integer({ min: 1, max: most }), more: fc.nat(6) }),
  {
    maxLength: 60,
  },
);

test('ranges hold the numbers that a set holds after the same additions', () => {
  fc.assert(
    fc.property(fc.nat(5), additions, (start, list) => {
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
