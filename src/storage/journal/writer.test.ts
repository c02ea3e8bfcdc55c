import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { hourMs } from '../../lib/units.ts';
import { type JournalOptions, withDefaults } from './options.ts';
import { RecentRecords } from './recent.ts';
import type { SegmentStore } from './segment-store.ts';
import { JournalWriter } from './writer.ts';

const nothing = async (): Promise<void> => undefined;

/** Creates a writer with a store that fails to commit while `disk.failure` is set. */
const createWriter = (t: TestContext, options: Partial<JournalOptions> = {}) => {
  const disk: { failure?: Error | undefined } = {};
  const commit = async (): Promise<void> => {
    if (disk.failure) throw disk.failure;
  };
  const events: string[] = [];
  const store: Partial<SegmentStore> = {
    commit,
    refresh: nothing,
    startSegment: nothing,
    probe: nothing,
    applyRetention: async () => void events.push('retention'),
    close: nothing,
    recent: new RecentRecords(0),
  };
  const report = ({ type }: { type: string }): void => void events.push(type);
  const settings = withDefaults({ directory: 'none', name: 'log', report, ...options });
  const writer = new JournalWriter(store as SegmentStore, settings, nothing, 0);
  t.after(() => writer.close());
  return { writer, disk, events };
};

const noSpace = Object.assign(new Error('no space'), { code: 'ENOSPC' });

test('a failure is reported once until a record is stored again', async (t) => {
  const { writer, disk, events } = createWriter(t);
  disk.failure = noSpace;
  for (let n = 0; n < 3; n += 1) {
    await assert.rejects(writer.append({}), { code: 'unavailable' });
  }
  assert.deepEqual(events, ['failed']);
  disk.failure = undefined;
  await writer.append({});
  await writer.append({});
  assert.deepEqual(events, ['failed', 'recovered']);
  disk.failure = noSpace;
  await assert.rejects(writer.append({}), { code: 'unavailable' });
  assert.deepEqual(events, ['failed', 'recovered', 'failed']);
});

test('with retainDays the writer checks ages every hour until it is closed', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { writer, events } = createWriter(t, { retainDays: 1 });
  t.mock.timers.tick(2 * hourMs);
  await writer.reopen();
  assert.deepEqual(events, ['retention', 'retention']);
  const closing = writer.close();
  t.mock.timers.tick(hourMs);
  await closing;
  await writer.reopen();
  assert.equal(events.length, 2);
});

test('without retainDays the writer sets no timer', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { writer, events } = createWriter(t, { retainSegments: 1 });
  t.mock.timers.tick(9 * hourMs);
  await writer.reopen();
  assert.deepEqual(events, []);
});
