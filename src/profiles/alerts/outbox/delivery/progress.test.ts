import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../../../test/support/random.ts';
import { Progress } from './progress.ts';

const failing = { attempts: 1, nextAt: 5, receivedAt: 1 };
const parked = { id: 'x', reason: 'y', time: 'z' };

/** The lines through JSON, as a journal keeps them, in a new progress. */
const replay = (lines: unknown[]): Progress => {
  const progress = new Progress(0);
  for (const line of lines) progress.apply(JSON.parse(JSON.stringify(line)));
  return progress;
};

test('the cursor stays before the oldest alert that is under way or failing', () => {
  const progress = new Progress(10);
  for (const seq of [11, 12, 13]) progress.begin(seq);
  progress.settle(12);
  assert.equal(progress.cursor, 10);
  assert.deepEqual(
    [11, 12, 13].map((seq) => progress.isSettled(seq)),
    [false, true, false],
  );
  progress.fail(11, failing);
  progress.park(13, parked);
  assert.equal(progress.cursor, 10);
  progress.begin(11);
  progress.settle(11);
  assert.equal(progress.cursor, 13);
  assert.equal(progress.settled.size, 0);
});

test('alerts that are skipped move the cursor, and those that vanish from the log do not hold it', () => {
  const progress = new Progress(0);
  progress.skipTo(4);
  assert.equal(progress.cursor, 4);
  progress.begin(5);
  progress.skipTo(8);
  assert.equal(progress.cursor, 4);
  progress.fail(5, failing);
  progress.finish(9);
  assert.equal(progress.cursor, 9);
});

test('alerts that retention deletes are counted and no longer hold the cursor', () => {
  const progress = new Progress(2);
  progress.begin(3);
  progress.begin(4);
  progress.fail(3, failing);
  progress.drop(6);
  assert.deepEqual([progress.cursor, progress.dropped, progress.failing.size], [6, 4, 0]);
  progress.settle(4);
  progress.drop(5);
  assert.deepEqual([progress.cursor, progress.dropped], [6, 4]);
});

test('of more than 10,000 parked alerts the oldest are forgotten and counted', () => {
  const progress = new Progress(0);
  for (let seq = 1; seq <= 10_003; seq += 1) {
    progress.begin(seq);
    progress.park(seq, parked);
  }
  assert.deepEqual([progress.parked.size, progress.forgotten, progress.cursor], [10_000, 3, 10_003]);
  assert.equal(progress.parked.has(3), false);
  const again = replay([progress.takeLine(true)]);
  assert.deepEqual([again.parked.size, again.forgotten], [10_000, 3]);
});

const steps = fc.array(
  fc.record({ what: fc.constantFrom('ok', 'fail', 'park', 'skip', 'line', 'checkpoint', 'unpark'), pick: fc.nat(7) }),
  {
    maxLength: 60,
  },
);

test('progress read from its lines, from any checkpoint on, is the progress that wrote them', () => {
  fc.assert(
    fc.property(steps, (list) => {
      const progress = new Progress(3);
      const lines: unknown[] = [progress.takeLine(true)];
      let next = 4;
      for (const { what, pick } of list) {
        const candidates = [...progress.failing.keys(), next];
        const seq = candidates[pick % candidates.length] ?? next;
        if (what === 'line' || what === 'checkpoint') {
          if (what === 'checkpoint') lines.length = 0;
          if (what === 'checkpoint' || lines.length > 0) lines.push(progress.takeLine(what === 'checkpoint'));
          continue;
        }
        if (what === 'unpark') {
          progress.unpark([...progress.parked.keys()][pick] ?? 0);
          continue;
        }
        if (seq === next) next += 1;
        if (what === 'skip' && !progress.failing.has(seq)) progress.skipTo(seq);
        else {
          progress.begin(seq);
          if (what === 'ok') progress.settle(seq);
          else if (what === 'park') progress.park(seq, parked);
          else progress.fail(seq, { ...failing, attempts: pick });
        }
      }
      lines.push(progress.takeLine(false));
      const again = replay(lines);
      const shown = ({ start, cursor, settled, failing: failed, parked: given, dropped }: Progress) => ({
        ...{ start, cursor, dropped, settled: [...settled], failed: [...failed], parked: [...given.keys()].sort() },
      });
      assert.deepEqual(shown(again), shown(progress));
      for (const seq of progress.failing.keys()) assert.ok(seq > progress.cursor);
    }),
  );
});
