import assert from 'node:assert/strict';
import { test } from 'node:test';
import { disk, readRecords } from '../../../../test/support/alerts.ts';
import { startApp, type TestApp } from '../../../../test/support/app.ts';
import { createAccessKey } from '../../../auth/access.ts';

const low = createAccessKey('low', ['alerts:write']);
const high = createAccessKey('high', ['alerts:write']);
const scraper = createAccessKey('scraper', ['metrics:read']);
const keys = [low.entry, high.entry, scraper.entry];

interface Call {
  token?: string | undefined;
  headers?: Record<string, string>;
}

const trigger = async (app: TestApp, severity: string, summary: string, call: Call = {}) => {
  const body = { event_action: 'trigger', dedup_key: 'disk-web1', payload: { summary, severity } };
  const { status, text } = await app.request('POST', '/api/alert/pagerduty', { body, ...call });
  assert.equal(status, 202, text);
};

const listStored = async (app: TestApp): Promise<unknown[]> => (await readRecords(app)).map(({ message }) => message);

const listSenders = async (app: TestApp): Promise<unknown[]> => (await readRecords(app)).map(({ sender }) => sender);

for (const alertsAuth of ['none', 'bearer']) {
  test(`with alertsAuth ${alertsAuth}, a key cannot suppress the alert of another key by its fingerprint`, async (t) => {
    const app = await startApp(t, { settings: { alertsAuth, keys } });
    await trigger(app, 'critical', 'fake', { token: low.key });
    await trigger(app, 'critical', 'REAL disk full', { token: high.key });
    await trigger(app, 'critical', 'REAL disk full, again', { token: high.key });
    assert.deepEqual(await listStored(app), ['fake', 'REAL disk full']);
    assert.deepEqual(await listSenders(app), ['key:low', 'key:high']);
  });
}

test('an alert with another severity is not a repeat, but an alert with only another text is', async (t) => {
  const app = await startApp(t);
  await trigger(app, 'info', 'fake');
  await trigger(app, 'critical', 'REAL');
  await trigger(app, 'critical', 'REAL, 2 minutes later');
  await trigger(app, 'info', 'fake');
  assert.deepEqual(await listStored(app), ['fake', 'REAL', 'fake']);
  const alert = (severity: string) => ({
    alerts: [{ labels: { alertname: 'a', severity }, fingerprint: 'f', startsAt: '2026-01-31T09:30:00Z' }],
  });
  const receipts: unknown[] = [];
  for (const severity of ['warning', 'critical', 'critical']) {
    const { json } = await app.request('POST', '/api/alert/alertmanager', { body: alert(severity) });
    receipts.push(json['repeated']);
  }
  assert.deepEqual(receipts, [0, 0, 1]);
});

test('the sender is the key, the user, or the address that a trusted proxy reports', async (t) => {
  const app = await startApp(t, { settings: { keys, trustProxy: ['127.0.0.1'] } });
  const user = await app.login('reader');
  const from = (address: string): Call => ({ headers: { 'X-Forwarded-For': address } });
  const calls: [Call, string][] = [
    [{ token: high.key }, 'key:high'],
    [{ token: user }, 'user:reader'],
    [{}, 'address:127.0.0.1'],
    [from('198.51.100.7'), 'address:198.51.100.7'],
    [from('::ffff:198.51.100.7'), 'address:198.51.100.7'],
    [from('2001:db8::7'), 'address:2001:db8::7'],
    [{ token: `${high.key}x` }, 'address:127.0.0.1'],
    [{ token: 'a.b.c' }, 'address:127.0.0.1'],
    [{ token: scraper.key }, 'address:127.0.0.1'],
  ];
  for (const [call] of calls) {
    assert.equal((await app.request('POST', '/api/alert', { body: disk, ...call })).status, 200);
  }
  assert.deepEqual(
    await listSenders(app),
    calls.map(([, sender]) => sender),
  );
});

test('without trustProxy, headers do not change the stored address', async (t) => {
  const app = await startApp(t);
  await app.request('POST', '/api/alert', { body: disk, headers: { 'X-Forwarded-For': '198.51.100.7' } });
  assert.deepEqual(await listSenders(app), ['address:127.0.0.1']);
});

test('senders may use the same Idempotency-Key for different alerts', async (t) => {
  const app = await startApp(t, { settings: { keys } });
  const ask = async (token: string, message: string): Promise<number> =>
    (await app.request('POST', '/api/alert', { body: { message }, token, headers: { 'Idempotency-Key': 'k' } })).status;
  assert.deepEqual([await ask(low.key, 'a'), await ask(high.key, 'b')], [200, 200]);
  assert.deepEqual([await ask(low.key, 'a'), await ask(high.key, 'a')], [200, 422]);
  assert.deepEqual(await listStored(app), ['a', 'b']);
});
