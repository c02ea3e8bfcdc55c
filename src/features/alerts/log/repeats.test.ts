import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { samples } from '../../../../test/support/alert-samples.ts';
import { changeJournal, disk, readRecords } from '../../../../test/support/alerts.ts';
import { startApp, type TestApp } from '../../../../test/support/app.ts';
import { startOutbox, toDestination } from '../../../../test/support/outbox.ts';
import { startReceiver } from '../../../../test/support/receiver.ts';
import { waitUntil } from '../../../../test/support/wait.ts';
import { JournalError } from '../../../storage/journal/errors.ts';

interface Receipt {
  ids: string[];
  repeated: number;
}

const send = async (app: TestApp, format: string, body: unknown): Promise<Receipt> => {
  const { status, json } = await app.request<Receipt>('POST', `/api/alert/${format}`, { body });
  assert.equal(status, 200);
  return json;
};

const createAlert = (name: string, more: object = {}) => ({
  labels: { alertname: name },
  fingerprint: name,
  startsAt: '2026-01-31T09:30:00Z',
  ...more,
});

const countRecords = async (app: TestApp): Promise<number> => (await readRecords(app)).length;

test('a repeat gets the id of the first alert, also after a restart', async (t) => {
  const app = await startApp(t);
  const first = await send(app, 'alertmanager', samples.alertmanager);
  assert.deepEqual(await send(app, 'alertmanager', samples.alertmanager), { ...first, repeated: 2 });
  assert.equal(await countRecords(app), 2);
  await app.close();
  const next = await startApp(t, { settings: { dataDir: join(app.folder, 'data') } });
  assert.deepEqual(await send(next, 'alertmanager', samples.alertmanager), { ...first, repeated: 2 });
  assert.equal(await countRecords(app), 2);
});

test('an alert with another fingerprint, status, start or format is no repeat', async (t) => {
  const app = await startApp(t);
  const alerts = [
    createAlert('a'),
    createAlert('b'),
    createAlert('a', { startsAt: '2026-01-31T09:31:00Z' }),
    createAlert('a', { annotations: { summary: 'only the text differs' } }),
    createAlert('a', { endsAt: '2026-01-31T09:31:00Z' }),
    createAlert('a', { status: 'resolved' }),
  ];
  const { ids, repeated } = await send(app, 'alertmanager', { alerts });
  assert.equal(repeated, 2);
  assert.deepEqual([ids[3], ids[4]], [ids[0], ids[0]]);
  assert.equal((await send(app, 'grafana', { alerts })).repeated, 2);
  assert.equal(await countRecords(app), 8);
});

test('an alert that fires again after its resolution is stored and delivered, also with its former start', async (t) => {
  const receiver = await startReceiver(t);
  const app = await startOutbox(t, [toDestination(receiver)]);
  const sendOne = async (to: TestApp, more: object) =>
    (await send(to, 'alertmanager', { alerts: [createAlert('a', more)] })).repeated;
  const end = { status: 'resolved', endsAt: '2026-01-31T09:35:00Z' };
  // Each alert is sent twice.
  for (const more of [{}, end, {}]) {
    assert.equal(await sendOne(app, more), 0);
    assert.equal(await sendOne(app, more), 1);
  }
  const records = await readRecords(app);
  assert.deepEqual(
    records.map(({ status }) => status),
    ['firing', 'resolved', 'firing'],
  );
  await waitUntil('all alerts are delivered', () => receiver.requests.length >= 3);
  const read = async () => (await app.request('GET', `/api/alerts/${records[2]?.['id']}`)).json['resolvedBy'];
  assert.equal(await read(), null);
  // A late resolution of an earlier alert does not resolve a later alert.
  const later = { startsAt: '2026-01-31T10:00:00Z' };
  const counts: number[] = [];
  for (const more of [end, later, end]) counts.push(await sendOne(app, more));
  assert.deepEqual(counts, [0, 0, 1]);
  await app.close();
  const next = await startApp(t, { settings: { dataDir: join(app.folder, 'data') } });
  assert.deepEqual([await sendOne(next, end), await sendOne(next, {}), await sendOne(next, later)], [1, 0, 1]);
});

test('an alert without a fingerprint is never a repeat', async (t) => {
  const app = await startApp(t);
  for (const repeated of [0, 0]) assert.equal((await send(app, 'slack', { text: 'a' })).repeated, repeated);
  assert.equal(await countRecords(app), 2);
});

test('a PagerDuty event is a repeat until an event with another action arrives', async (t) => {
  const app = await startApp(t);
  const trigger = { event_action: 'trigger', dedup_key: 'k', payload: { summary: 's' } };
  const actions = ['trigger', 'trigger', 'acknowledge', 'acknowledge', 'resolve', 'resolve', 'trigger', 'trigger'];
  for (const action of actions) {
    await app.request('POST', '/api/alert/pagerduty', { body: { ...trigger, event_action: action } });
  }
  const messages = (await readRecords(app)).map(({ message }) => message);
  assert.deepEqual(messages, ['s', 'Acknowledged: s', 'Resolved: s', 's']);
});

test('equal simultaneous requests store their alerts once', async (t) => {
  const app = await startApp(t);
  const bodies = Array.from({ length: 40 }, (_, index) => ({
    alerts: [createAlert(`n${index % 3}`), createAlert(`n${(index + 1) % 3}`)],
  }));
  const receipts = await Promise.all(bodies.map((body) => send(app, 'alertmanager', body)));
  const records = await readRecords(app);
  assert.equal(records.length, 3);
  const idOf = (name: string) => records.find(({ fingerprint }) => fingerprint === name)?.['id'];
  for (const [index, { ids }] of receipts.entries()) {
    assert.deepEqual(ids, [idOf(`n${index % 3}`), idOf(`n${(index + 1) % 3}`)]);
  }
  assert.equal(
    receipts.reduce((sum, { repeated }) => sum + repeated, 0),
    80 - 3,
  );
});

test('an alert whose first request got 503 is stored by the next request', async (t) => {
  let fails = true;
  const features = changeJournal((journal) => ({
    ...journal,
    appendAll: (records) =>
      fails ? Promise.reject(new JournalError('unavailable', 'no')) : journal.appendAll(records),
  }));
  const app = await startApp(t, { features });
  const body = { alerts: [createAlert('a')] };
  const refused = await Promise.all([1, 2, 3].map(() => app.request('POST', '/api/alert/alertmanager', { body })));
  assert.deepEqual(
    refused.map(({ status }) => status),
    [503, 503, 503],
  );
  fails = false;
  assert.equal((await send(app, 'alertmanager', body)).repeated, 0);
});

test('alerts are stored even if the end of the log cannot be read', async (t) => {
  const features = changeJournal((journal) => ({ ...journal, listLast: () => Promise.reject(new Error('no')) }));
  const app = await startApp(t, { features });
  assert.equal((await send(app, 'alertmanager', samples.alertmanager)).repeated, 0);
  assert.equal((await send(app, 'alertmanager', samples.alertmanager)).repeated, 2);
});

test('fewer records are read on startup if the last records are large', async (t) => {
  const counts: number[] = [];
  const features = changeJournal((journal) => ({
    ...journal,
    listLast: (count) => {
      counts.push(count);
      return count > 10_000 ? Promise.reject(new JournalError('window-too-large', 'no')) : journal.listLast(count);
    },
  }));
  const app = await startApp(t, { features });
  await send(app, 'alertmanager', samples.alertmanager);
  assert.deepEqual(counts, [100_000, 25_000, 6250]);
});

test('a native alert with an Idempotency-Key is stored once, also after a restart', async (t) => {
  const app = await startApp(t);
  const ask = async (to: TestApp, key: string, body: object) => {
    const { status, json } = await to.request('POST', '/api/alert', { body, headers: { 'Idempotency-Key': key } });
    return [status, json['id'] ?? json['error']];
  };
  const [[status, id], ...others] = await Promise.all([
    ask(app, 'k1', disk),
    ask(app, 'k1', disk),
    ask(app, 'k1', disk),
  ]);
  assert.equal(status, 200);
  assert.deepEqual(others, [
    [200, id],
    [200, id],
  ]);
  assert.deepEqual(await ask(app, 'k1', { ...disk, level: 'INFO' }), [
    422,
    'This Idempotency-Key was used for another alert',
  ]);
  assert.notEqual((await ask(app, 'k2', disk))[1], id);
  assert.equal(await countRecords(app), 2);
  await app.close();
  const next = await startApp(t, { settings: { dataDir: join(app.folder, 'data') } });
  assert.deepEqual(await ask(next, 'k1', { ...disk, other: null }), [200, id]);
  assert.equal((await ask(next, 'k1', { ...disk, message: '' }))[0], 422);
  assert.equal((await ask(next, '', disk))[0], 400);
  assert.equal((await ask(next, 'k'.repeat(257), disk))[0], 400);
  assert.equal(await countRecords(app), 2);
});

test('every native alert without an Idempotency-Key is stored, as a line without a key', async (t) => {
  const app = await startApp(t);
  for (const _ of [1, 2]) await app.request('POST', '/api/alert', { body: disk });
  const records = await readRecords(app);
  assert.equal(records.length, 2);
  for (const record of records) assert.ok(!('key' in record));
});
