import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFolder } from '../../../../test/support/folder.ts';
import { atEnd, type Scope } from '../../../../test/support/scope.ts';
import { readTime } from '../../../kit/alert-record.ts';
import { minuteMs } from '../../../lib/units.ts';
import { openJournal } from '../../../storage/journal/journal.ts';
import { AlertCounts } from '../alert-counts.ts';
import type { WatchSettings } from '../schema.ts';
import type { WatchReadings } from '../watch-type.ts';
import { alertWatch } from './alert.ts';

/** Creates a log of alerts, and a function that checks the log at a given minute. */
const createLog = async (t: Scope) => {
  const indexing = { timeOf: readTime, keyOf: () => undefined, keys: [] };
  const journal = await openJournal({ directory: createFolder(t), name: 'alerts', indexing });
  atEnd(t, () => journal.close());
  const alertCounts = new AlertCounts(journal);
  const toTime = (minutes: number): string => new Date(minutes * minuteMs).toISOString();
  return {
    add: (source: string, minutes: number, count = 1, details = '', fields: object = {}) =>
      journal.appendAll(Array.from({ length: count }, () => ({ source, time: toTime(minutes), details, ...fields }))),
    find: async (watch: WatchSettings, minutes: number): Promise<string | undefined> => {
      const clock = () => new Date(minutes * minuteMs);
      const quietMsOf = async () => undefined;
      const readings = { journal, alertCounts, quietMsOf, clock } as unknown as WatchReadings;
      const [finding] = await alertWatch.check(watch, readings, AbortSignal.timeout(10_000));
      return finding?.words;
    },
  };
};

const silence: WatchSettings = { name: 'backup', type: 'alert', source: 'backup', limit: 60 };

test('an alert is found in spite of many later alerts', async (t) => {
  const { add, find } = await createLog(t);
  await add('backup', 1000);
  for (let piece = 0; piece < 6; piece += 1) await add('other', 1001, 300, 'x'.repeat(10_000));
  assert.equal(await find(silence, 1030), 'the last alert from backup was 30 min ago');
  const flood: WatchSettings = { ...silence, metric: 'count' };
  assert.equal(await find(flood, 1030), '1 alert from backup within 60 min');
});

test('an alert that is stored during a check, or by an instance with a slow clock, is found by the next check', async (t) => {
  const { add, find } = await createLog(t);
  const watch = { ...silence };
  assert.equal(await find(watch, 1000), 'no alert from backup for more than 60 min');
  await add('backup', 999.5);
  assert.equal(await find(watch, 1001), 'the last alert from backup was 1 min ago');
});

test('a count adds new alerts, drops old ones, ignores resolutions and alerts of watches, and stops at 10,000', async (t) => {
  const { add, find } = await createLog(t);
  const watch: WatchSettings = { name: 'flood', type: 'alert', source: 'sh*p', metric: 'count', minutes: 10, limit: 3 };
  const count = async (minutes: number) => Number((await find(watch, minutes))?.split(' ')[0]);
  await add('shop', 1000, 3);
  await add('ship', 1005, 2);
  await add('sheep!', 1005, 2);
  await add('shop', 1005, 7, '', { format: 'watch' });
  await add('shop', 1005, 7, '', { status: 'resolved' });
  assert.equal(await count(1006), 5);
  await add('shop', 1007, 4);
  assert.equal(await count(1008), 9);
  assert.equal(await count(1011), 6, 'alerts of minute 1000 are too old');
  assert.equal(await count(1010), 9, 'the clock was set back');
  for (let piece = 0; piece < 5; piece += 1) await add('shop', 1012, 2600);
  assert.equal(await count(1012), 10_000);
  assert.deepEqual(await Promise.all([count(1012), count(1013), find({ ...watch, minutes: 1 }, 1013)]), [
    10_000,
    10_000,
    '10000 alerts from sh*p within 1 min',
  ]);
  await add('shop', 1030, 1);
  assert.equal(await count(1031), 1);
});
