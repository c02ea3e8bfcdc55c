import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { sendAlert } from '../../../../test/support/alerts.ts';
import { createFolder } from '../../../../test/support/folder.ts';
import {
  messagesOf,
  readState,
  startOutbox,
  toDestination,
  waitForRequests,
  waitUntilIdle,
} from '../../../../test/support/outbox.ts';
import { startReceiver } from '../../../../test/support/receiver.ts';
import { openJournal } from '../../../storage/journal/journal.ts';

/** Returns the alerts that a destination with these settings gets from a log with these records. */
const deliver = async (t: TestContext, settings: object, records: ((ids: string[]) => object)[]) => {
  const receiver = await startReceiver(t);
  const directory = join(createFolder(t), 'data');
  const journal = await openJournal({ directory, name: 'alerts', report: () => undefined });
  const ids: string[] = [];
  for (const create of records) {
    const { id } = await journal.append({
      time: '2026-01-31T09:30:00+01:00',
      source: 'x',
      hostname: 'h',
      ...create(ids),
    });
    ids.push(id);
  }
  await journal.close();
  const app = await startOutbox(t, [toDestination(receiver, { startAt: 'oldest', ...settings })], {
    dataDir: directory,
  });
  await waitUntilIdle(app);
  return { messages: messagesOf(receiver), bodies: receiver.requests.map(({ body }) => JSON.parse(body)), ids, app };
};

const resolved = { status: 'resolved', level: 'INFO' };

test('a resolution is sent to the destinations that got the firing alert', async (t) => {
  const { messages } = await deliver(t, { levels: ['CRITICAL', 'ERROR'] }, [
    () => ({ level: 'page', message: 'firing' }),
    () => ({ ...resolved, firingLevel: 'page', message: 'its end' }),
    () => ({ ...resolved, firingLevel: 'WARNING', message: 'the end of another' }),
    () => ({ ...resolved, message: 'the end of an unknown one' }),
    () => ({ ...resolved, level: 'ERROR', message: 'an end with a level' }),
    () => ({ level: 'INFO', firingLevel: 'ERROR', message: 'no end' }),
  ]);
  assert.deepEqual(messages, ['firing', 'its end', 'an end with a level']);
});

const series = [
  () => ({ level: 'ERROR', fingerprint: 'a', status: 'firing', message: 'first' }),
  (ids: string[]) => ({ level: 'ERROR', fingerprint: 'a', status: 'firing', message: 'again', repeatOf: ids[0] }),
  (ids: string[]) => ({ level: 'ERROR', fingerprint: 'a', status: 'firing', message: 'once more', repeatOf: ids[0] }),
  () => ({ level: 'ERROR', fingerprint: 'b', status: 'firing', message: 'other' }),
  () => ({ level: 'ERROR', fingerprint: 'c', status: 'firing', message: 'unknown series', repeatOf: 'lost' }),
];

test('a repeated alert is sent only if repeatMinutes have passed since the last delivery', async (t) => {
  const { messages } = await deliver(t, {}, series);
  assert.deepEqual(messages, ['first', 'other', 'unknown series']);
});

test('with repeatMinutes 0, a repeated alert is never sent and is shown as skipped', async (t) => {
  const { messages, ids, app } = await deliver(t, { repeatMinutes: 0 }, series);
  assert.deepEqual(messages, ['first', 'other']);
  const { json } = await app.request<{ deliveries: { status: string }[] }>('GET', `/api/alerts/${ids[1]}`);
  assert.equal(json.deliveries[0]?.status, 'skipped');
});

test('a repeated alert is sent again after repeatMinutes, and names the first alert', async (t) => {
  const { messages, bodies, ids } = await deliver(t, { repeatMinutes: 1e-9 }, series);
  assert.deepEqual(messages, ['first', 'again', 'once more', 'other', 'unknown series']);
  assert.equal(bodies[1]?.repeatOf, ids[0]);
});

test('a restart with other repeatMinutes sends no reminder early', async (t) => {
  const receiver = await startReceiver(t);
  const dataDir = createFolder(t);
  const [first, again, onceMore] = series;
  const ids: string[] = [];
  for (const [create, repeatMinutes] of [
    [first, 0],
    [again, 60],
    [onceMore, 240],
    [again, 1e-9],
  ] as const) {
    const journal = await openJournal({ directory: dataDir, name: 'alerts', report: () => undefined });
    const { id } = await journal.append({ time: '2026-01-31T08:30:00Z', ...create?.(ids) });
    ids.push(id);
    await journal.close();
    const app = await startOutbox(t, [toDestination(receiver, { startAt: 'oldest', repeatMinutes })], { dataDir });
    await waitUntilIdle(app);
    await app.close();
  }
  assert.deepEqual(messagesOf(receiver), ['first', 'again']);
});

test('details, links and severity of an alert are delivered', async (t) => {
  const about = { details: 'more', links: { runbook: 'https://runbook.example.org/?a=1' }, resolves: 'x' };
  const { bodies } = await deliver(t, {}, [() => ({ level: 'p2', message: 'disk', ...about })]);
  const { severity, details, links, resolves } = bodies[0] ?? {};
  assert.deepEqual({ severity, details, links, resolves }, { severity: 'ERROR', ...about });
});

test('with the maximum number of given-up alerts and long reasons, a restart repeats no delivery', async (t) => {
  const dataDir = createFolder(t);
  const open = (name: string) => openJournal({ directory: dataDir, name, report: () => undefined });
  const [alerts, progress] = [await open('alerts'), await open('outbox-hook')];
  const time = '2026-01-31T08:30:00Z';
  const nothing = { start: 0, settled: [], failing: [], unparked: [], dropped: 0, forgotten: 0 };
  for (let first = 1; first <= 10_000; first += 1000) {
    const rows = Array.from({ length: 1000 }, (_, n) => first + n);
    const stored = await alerts.appendAll(rows.map((row) => ({ time, level: 'INFO', message: `${row}` })));
    const reason = 'x'.repeat(180);
    const parked = stored.map(({ seq, id }) => [seq, { id, reason, time }]);
    await progress.append({ ...nothing, cursor: first + 999, parked });
  }
  await alerts.close();
  await progress.close();
  const receiver = await startReceiver(t);
  for (const message of ['1', '2']) {
    const app = await startOutbox(t, [toDestination(receiver)], { dataDir });
    await sendAlert(app, { message });
    await waitForRequests(receiver, Number(message));
    await waitUntilIdle(app);
    assert.equal((await readState(app)).parked, 10_000);
    await app.close();
  }
  assert.deepEqual(messagesOf(receiver), ['1', '2']);
});
