import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pino } from 'pino';
import { createFolder } from '../../../../test/support/folder.ts';
import { openTestJournal } from '../../../../test/support/journal.ts';
import { startOutbox, toDestination } from '../../../../test/support/outbox.ts';
import { startReceiver } from '../../../../test/support/receiver.ts';
import { waitUntil } from '../../../../test/support/wait.ts';
import { minuteMs } from '../../../lib/units.ts';
import { createSnapshotFile } from '../../../storage/snapshot-file.ts';
import type { AlertRecord } from '../alert.ts';
import { openAlertProjection } from './alert-projection.ts';
import { FileAlertStore } from './file-store.ts';

/** Opens a store with a log in files. The test controls its clock. */
const open = async (t: TestContext, directory: string, clock: { now: number }, repeatAfterMs: number | undefined) => {
  const journal = await openTestJournal(t, directory, { name: 'alerts' });
  const now = () => new Date(clock.now);
  const snapshot = createSnapshotFile(join(directory, 'alerts.known.state'));
  const log = pino({ level: 'warn' }, { write: (line) => assert.fail(line) });
  const projection = await openAlertProjection({ events: journal, snapshot, clock: now, log });
  const store = new FileAlertStore(journal, projection, { clock: now, repeatAfterMs: () => repeatAfterMs });
  const send = async (status: 'firing' | 'resolved' = 'firing') => {
    const time = now().toISOString();
    const record = { source: 's', level: 'ERROR', message: 'm', hostname: 'h', timestamp: time, receivedAt: '' };
    const alert: AlertRecord = {
      ...record,
      time,
      sender: 'a',
      format: 'x',
      fingerprint: 'f',
      status,
      key: `h-${status}:1`,
    };
    const { ids, repeated, fresh } = await store.appendNew([alert]);
    return [ids[0], repeated, fresh.length];
  };
  const readStored = async (): Promise<unknown[]> => {
    const { records } = await journal.search({ limit: 100, maxBytes: 1e6 });
    return records.map(({ id, status, repeatOf }) => [id, status, repeatOf]).toReversed();
  };
  const close = async (): Promise<void> => {
    await projection.close();
    await journal.close();
  };
  return { close, send, readStored };
};

test('a repeat is stored as a reminder after repeatMinutes, and counts as a repeat', async (t) => {
  const [directory, clock] = [createFolder(t), { now: Date.parse('2026-01-31T09:30:00Z') }];
  const first = await open(t, directory, clock, 10 * minuteMs);
  const [id, ...counts] = await first.send();
  assert.deepEqual(counts, [0, 1]);
  for (const minutes of [5, 4, 1, 9, 1]) {
    clock.now += minutes * minuteMs;
    assert.deepEqual(await first.send(), [id, 1, 0]);
  }
  const reminders = (await first.readStored()).slice(1) as string[][];
  assert.deepEqual(
    reminders.map(([, status, repeatOf]) => [status, repeatOf]),
    [
      ['firing', id],
      ['firing', id],
    ],
  );
  await first.close();
  const next = await open(t, directory, clock, 10 * minuteMs);
  clock.now += 9 * minuteMs;
  assert.deepEqual(await next.send(), [id, 1, 0]);
  assert.equal((await next.readStored()).length, 3);
  clock.now += minuteMs;
  assert.deepEqual(await next.send(), [id, 1, 0]);
  assert.equal((await next.readStored()).length, 4);
  await next.send('resolved');
  clock.now += 20 * minuteMs;
  // Repeats of a resolved alert or of its resolution are not reminders.
  assert.deepEqual(await next.send(), [id, 1, 0]);
  await next.send('resolved');
  assert.equal((await next.readStored()).length, 5);
});

test('without a destination with repeatMinutes, repeats are never stored', async (t) => {
  const clock = { now: Date.parse('2026-01-31T09:30:00Z') };
  const { send, readStored } = await open(t, createFolder(t), clock, undefined);
  await send();
  clock.now += 23 * 60 * minuteMs;
  await send();
  assert.equal((await readStored()).length, 1);
});

test('a destination with repeatMinutes gets reminders of a repeated alert, with the id of the first alert', async (t) => {
  const receiver = await startReceiver(t);
  const app = await startOutbox(t, [toDestination(receiver, { repeatMinutes: 0.001 })]);
  const alerts = [{ labels: { alertname: 'HostDown' }, fingerprint: 'f', startsAt: '2026-01-31T09:30:00Z' }];
  const send = async (): Promise<{ ids: string[]; repeated: number }> =>
    (await app.request<{ ids: string[]; repeated: number }>('POST', '/api/alert/alertmanager', { body: { alerts } }))
      .json;
  const { ids } = await send();
  await waitUntil('the reminder has arrived', async () => {
    assert.deepEqual(await send(), { received: true, ids, repeated: 1 });
    return receiver.requests.length >= 2;
  });
  const [first, reminder] = receiver.requests.map(({ body }) => JSON.parse(body));
  assert.deepEqual([first.id, first.repeatOf, reminder.repeatOf], [ids[0], undefined, ids[0]]);
});
