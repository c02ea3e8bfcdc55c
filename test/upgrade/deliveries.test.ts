import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openJournal } from '../../src/storage/journal/journal.ts';
import { createFolder } from '../support/folder.ts';
import { messagesOf, readState, startOutbox, toDestination, waitUntilIdle } from '../support/outbox.ts';
import { startReceiver } from '../support/receiver.ts';

const time = '2026-01-31T08:30:00Z';

test('the journal in which version 1.0 kept the progress of a destination repeats and loses no delivery', async (t) => {
  const dataDir = createFolder(t);
  const open = (name: string) => openJournal({ directory: dataDir, name, report: () => undefined });
  const alerts = await open('alerts');
  const stored = await alerts.appendAll(
    ['1', '2', '3', '4', '5', '6'].map((message) => ({ time, level: 'INFO', message })),
  );
  await alerts.close();
  const state = { start: 0, dropped: 0, forgotten: 0, parked: [], unparked: [] };
  const parked = { id: stored[0]?.id, reason: 'the receiver responded 400', time };
  const progress = await open('outbox-hook');
  await progress.append({ ...state, checkpoint: true, cursor: 1, settled: [], failing: [], parked: [[1, parked]] });
  const failing = [[3, { attempts: 1, nextAt: 1, receivedAt: Date.parse(time) }]];
  await progress.append({ ...state, cursor: 2, settled: [4], failing });
  await progress.close();
  const receiver = await startReceiver(t);
  for (let start = 0; start < 2; start += 1) {
    const app = await startOutbox(t, [toDestination(receiver)], { dataDir });
    await waitUntilIdle(app);
    assert.equal((await readState(app)).parked, 1);
    await app.close();
    assert.deepEqual(messagesOf(receiver), ['3', '5', '6']);
  }
});
