import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { createFolder } from '../../../../test/support/folder.ts';
import { fc } from '../../../../test/support/random.ts';
import type { Scope } from '../../../../test/support/scope.ts';
import { openJournal } from '../../../storage/journal/journal.ts';
import { createReplacedFile, type ReplacedFile } from '../../../storage/replaced-file.ts';
import { DeliveryProgress, parseProgress } from './progress.ts';
import { openProgress } from './progress-file.ts';

const parked = { id: 'x', reason: 'y', time: 'z' };

/** Creates a progress in which the alerts after `start` up to `last` have been read and are open. */
const readUpTo = (last: number, start = 10): DeliveryProgress => {
  const progress = new DeliveryProgress(start);
  for (let seq = start + 1; seq <= last; seq += 1) progress.advance(seq, true);
  return progress;
};

test('the cursor stays before the oldest alert that is not settled', () => {
  const progress = readUpTo(13);
  progress.settle(12);
  assert.equal(progress.cursor, 10);
  assert.deepEqual(
    [11, 12, 13, 14].map((seq) => progress.isSettled(seq)),
    [false, true, false, false],
  );
  progress.giveUp(13, parked);
  assert.deepEqual([progress.cursor, progress.countOpen(13), progress.countOpen(15)], [10, 1, 3]);
  progress.settle(11);
  assert.equal(progress.cursor, 13);
});

test('an alert that was sent before the reader reaches its record is already settled', () => {
  const progress = readUpTo(11);
  progress.settle(13);
  assert.deepEqual([progress.isSettled(13), progress.countOpen(14)], [true, 3]);
  assert.deepEqual([progress.advance(12, true), progress.advance(13, true)], [true, false]);
  assert.deepEqual([progress.countOpen(14), progress.early.size], [3, 0]);
});

test('alerts that retention deletes are counted and no longer hold the cursor', () => {
  const progress = readUpTo(5, 2);
  progress.settle(5);
  progress.settle(8);
  progress.drop(6);
  assert.deepEqual([progress.cursor, progress.dropped, progress.countOpen(8)], [6, 3, 1]);
  progress.drop(5);
  progress.giveUp(4, parked);
  assert.deepEqual([progress.cursor, progress.dropped, progress.parked.size], [6, 3, 0]);
});

test('given-up alerts that are retried wait again, and count as dropped if the log no longer has them', () => {
  const progress = readUpTo(4, 0);
  for (const seq of [2, 3]) progress.giveUp(seq, parked);
  for (const seq of [1, 4]) progress.settle(seq);
  assert.deepEqual(progress.unparkAll(7), [2, 3]);
  assert.deepEqual([progress.cursor, progress.parked.size, progress.countOpen(4)], [1, 0, 2]);
  assert.deepEqual(progress.open.get(2), { attempts: 0, again: { id: 'x', at: 7 } });
  progress.lose(2);
  assert.deepEqual([progress.cursor, progress.dropped], [2, 1]);
  progress.settle(3);
  assert.deepEqual([progress.cursor, progress.dropped], [4, 1]);
});

test('of more than 10,000 given-up alerts the oldest are forgotten and counted', () => {
  const progress = readUpTo(10_003, 0);
  for (let seq = 1; seq <= 10_003; seq += 1) progress.giveUp(seq, parked);
  assert.deepEqual([progress.parked.size, progress.forgotten, progress.cursor], [10_000, 3, 10_003]);
  assert.equal(progress.parked.has(3), false);
  const again = parseProgress(JSON.stringify(progress));
  assert.deepEqual([again.parked.size, again.forgotten, again.givenUpCount], [10_000, 3, 10_003]);
});

test('with a shorter log, open alerts in the log stay open, and later alerts are new', () => {
  const progress = readUpTo(15);
  for (const seq of [12, 13, 14, 15]) progress.settle(seq);
  assert.deepEqual(progress.cut(13), { isReplaced: false });
  assert.deepEqual([progress.position, progress.isSettled(14), progress.isSettled(11)], [13, false, false]);
  progress.settle(11);
  progress.giveUp(11, parked);
  assert.deepEqual(progress.cut(5), { isReplaced: true });
  assert.deepEqual([progress.start, progress.position, progress.countOpen(5)], [5, 5, 0]);
});

const steps = fc.array(
  fc.record({
    what: fc.constantFrom('read', 'skip', 'ok', 'fail', 'park', 'early', 'again', 'drop', 'receiver', 'sent'),
    pick: fc.nat(7),
  }),
  { maxLength: 60 },
);

test('progress that is read from its file is the progress that was written, and every alert is settled or open', () => {
  fc.assert(
    fc.property(steps, (list) => {
      const progress = new DeliveryProgress(3);
      const settled = new Set([0, 1, 2, 3]);
      for (const { what, pick } of list) {
        const seq = [...progress.open.keys()][pick] ?? 0;
        const next = progress.position + 1;
        if (what === 'read') progress.advance(next, true);
        else if (what === 'again') for (const one of progress.unparkAll(pick)) settled.delete(one);
        else if (what === 'receiver') progress.receiver = { notBefore: pick };
        else if (what === 'sent') progress.noteSent(`${pick}`, pick);
        else if (what === 'skip') {
          progress.advance(next + pick, false);
          for (let one = next; one <= next + pick; one += 1) settled.add(one);
        } else if (what === 'drop') {
          const last = progress.cursor + pick;
          progress.drop(last);
          for (let one = 0; one <= last; one += 1) settled.add(one);
        } else if (what === 'early') {
          progress.settle(next + pick);
          settled.add(next + pick);
        } else if (seq > 0) {
          if (what === 'fail') progress.open.set(seq, { attempts: pick });
          else settled.add(seq);
          if (what === 'ok') progress.settle(seq);
          if (what === 'park') progress.giveUp(seq, parked);
        }
      }
      const again = parseProgress(JSON.stringify(progress));
      assert.deepEqual(JSON.parse(JSON.stringify(again)), JSON.parse(JSON.stringify(progress)));
      for (let seq = 0; seq < 600; seq += 1) assert.equal(again.isSettled(seq), settled.has(seq), `${seq}`);
      const open = Array.from({ length: 600 }, (_, seq) => seq).filter((seq) => !settled.has(seq));
      assert.equal(again.countOpen(599), open.length);
      assert.equal(again.cursor, Math.min(again.position, (open[0] ?? 600) - 1));
    }),
  );
});

interface Opened {
  directory: string;
  writes: string[];
  /** Error that makes writes fail while it is set. */
  failure?: Error | undefined;
}

/** Opens the progress of `hook` in the folder, with a log that ends at 100. */
const open = ({ directory, writes, ...opened }: Opened, lines: string[] = []) => {
  const openFile = (name: string): ReplacedFile => {
    const file = createReplacedFile(directory, name);
    return {
      read: file.read,
      write: async (bytes) => {
        if (opened.failure) throw opened.failure;
        writes.push(bytes.toString());
        await file.write(bytes);
      },
    };
  };
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  return openProgress('hook', {
    storage: { log: (name, options) => openJournal({ directory, name, ...options }), file: openFile },
    log,
    start: 90,
    stored: 100,
  });
};

const start = (t: Scope): Opened => ({ directory: createFolder(t), writes: [] });

test('the progress is written immediately, then at most once a second, and on close', async (t) => {
  const files = start(t);
  const kept = await open(files);
  assert.equal(files.writes.length, 1);
  const begun = performance.now();
  for (let seq = 91; seq <= 100; seq += 1) {
    kept.progress.advance(seq, false);
    kept.save();
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const most = 2 + Math.ceil((performance.now() - begun) / 1000);
  assert.ok(files.writes.length <= most, `${files.writes.length} writes`);
  await kept.close();
  const next = await open(files);
  assert.equal(next.progress.position, 100);
  await next.close();
});

test('a progress file that is damaged loses no alert', async (t) => {
  const files = start(t);
  await createReplacedFile(files.directory, 'outbox-hook.progress').write(Buffer.from('{'));
  const lines: string[] = [];
  const kept = await open(files, lines);
  assert.equal(kept.progress.position, 0);
  assert.match(lines.join(''), /the delivery progress cannot be read; all alerts are delivered again/);
  await kept.close();
});

const nothing = { dropped: 4, forgotten: 0, parked: [], unparked: [] };

const lines = [
  { checkpoint: true, start: 1, cursor: 2, settled: [], failing: [], ...nothing, parked: [[2, parked]] },
  {
    start: 1,
    cursor: 3,
    settled: [7, 5],
    ...nothing,
    failing: [[4, { attempts: 3, nextAt: 1, receivedAt: 1 }]],
  },
];

test('the journal of version 1.0 is read once, with settled alerts and attempts', async (t) => {
  const files = start(t);
  const journal = await openJournal({
    directory: files.directory,
    name: 'outbox-hook',
    report: () => undefined,
  });
  for (const line of lines) await journal.append({ ...line });
  await journal.close();
  const kept = await open(files);
  const { progress } = kept;
  assert.deepEqual([progress.start, progress.cursor, progress.dropped, progress.parked.size], [1, 3, 4, 1]);
  assert.deepEqual(
    [4, 5, 6, 7, 8].filter((seq) => progress.isSettled(seq)),
    [5, 7],
  );
  assert.deepEqual([progress.position, progress.open.get(4)], [7, { attempts: 3 }]);
  progress.settle(4);
  await kept.close();
  const next = await open(files);
  assert.equal(next.progress.cursor, 5);
  await next.close();
});
