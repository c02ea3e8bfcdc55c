import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { createFolder } from '../../../test/support/folder.ts';
import { atEnd, type Scope } from '../../../test/support/scope.ts';
import { JournalError } from '../../storage/journal/errors.ts';
import { type Journal, openJournal } from '../../storage/journal/journal.ts';
import { createSnapshotFile } from '../../storage/snapshot-file.ts';
import { createHeartbeatState } from './heartbeat-state.ts';
import { HeartbeatStore } from './store.ts';

const report = { warn: () => undefined, error: () => undefined };

const openParts = async (t: Scope, change: Partial<Journal> = {}) => {
  const directory = createFolder(t);
  const journal = await openJournal({ directory, name: 'heartbeats', awaitsHold: true, recentCount: 100 });
  const snapshot = createSnapshotFile(join(directory, 'heartbeats.state'));
  return { journal, parts: { log: { ...journal, ...change }, snapshot, report } };
};

test('the resolution of the alert of a deleted heartbeat counts after a ping of its successor', async (t) => {
  const { parts } = await openParts(t);
  const store = await HeartbeatStore.open(parts);
  atEnd(t, () => store.close());
  const common = { name: 'job', at: 1 };
  await store.append({ ...common, type: 'failure', since: 1 });
  const { seq: problem = 0 } = store.find('job')?.problem ?? {};
  await store.append({ ...common, type: 'told', since: 1, alert: 'a', level: 'ERROR', problem });
  await store.append({ ...common, type: 'success', since: 2 });
  assert.equal(store.find('job')?.told?.alert, 'a');
  await store.append({ ...common, type: 'told', since: 1, alert: null, level: 'ERROR', problem });
  assert.equal(store.find('job')?.told, null);
  assert.equal(store.find('job')?.since, 2);
});

test('the first ping after a log was lost and could not be written counts', async (t) => {
  let isRefusing = true;
  const { journal, parts } = await openParts(t, {
    appendAll: (records, ids) =>
      isRefusing ? Promise.reject(new JournalError('unavailable', 'full')) : journal.appendAll(records, ids),
  });
  await parts.snapshot.write(10, [[{ outages: [] }, createHeartbeatState('other', 0)]]);
  const store = await HeartbeatStore.open(parts);
  atEnd(t, () => store.close());
  isRefusing = false;
  await store.append({ type: 'success', name: 'job', since: 0, at: 1 });
  assert.equal(store.find('job')?.lastSuccessAt, 1);
  assert.ok(store.find('other'));
});

test('a forgotten heartbeat stays forgotten after a restart, and a record of another version changes nothing', async (t) => {
  const { journal, parts } = await openParts(t);
  const store = await HeartbeatStore.open(parts);
  const about = { name: 'job', since: 1, at: 1 };
  await store.append({ type: 'failure', ...about });
  await journal.append({ type: 'later than this version', ...about });
  await store.append({ type: 'told', alert: null, level: '', problem: 0, isForgotten: true, ...about, since: 0 });
  assert.equal(store.find('job')?.problem?.why, 'failed');
  await store.append({ type: 'told', alert: null, level: '', problem: 0, isForgotten: true, ...about });
  assert.equal(store.find('job'), undefined);
  const again = await HeartbeatStore.open(parts);
  atEnd(t, () => again.close());
  assert.deepEqual([...again.list()], []);
});
