import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { readRecords, sendAlert } from '../../../../test/support/alerts.ts';
import { startApp, type TestApp } from '../../../../test/support/app.ts';
import { createAccessKey } from '../../../auth/access.ts';
import type { AlertEntry } from '../schema.ts';
import { FiringAlerts } from './firing-alerts.ts';

const read = async (app: TestApp, id: string | undefined): Promise<AlertEntry> => {
  const { status, json, text } = await app.request<AlertEntry>('GET', `/api/alerts/${id}`);
  assert.equal(status, 200, text);
  return json;
};

const sendForeign = async (app: TestApp, alert: object, token?: string): Promise<string> => {
  const body = { alerts: [{ labels: { alertname: 'HostDown', severity: 'critical' }, fingerprint: 'f', ...alert }] };
  const { status, json, text } = await app.request<{ ids: string[] }>('POST', '/api/alert/alertmanager', {
    body,
    token,
  });
  assert.equal(status, 200, text);
  return json.ids[0] ?? '';
};

const startsAt = '2026-01-31T09:30:00Z';

test('a resolution names the resolved alert, and the alert names its resolution, also after a restart', async (t) => {
  const app = await startApp(t);
  const firing = await sendForeign(app, { startsAt });
  assert.equal((await read(app, firing)).resolvedBy, null);
  const resolved = await sendForeign(app, { startsAt, status: 'resolved', endsAt: '2026-01-31T09:35:00Z' });
  const check = async (to: TestApp): Promise<void> => {
    const [first, last] = [await read(to, firing), await read(to, resolved)];
    assert.deepEqual([last.resolves, last.resolvedBy], [firing, null]);
    assert.deepEqual([first.resolves, first.resolvedBy], [null, { id: resolved, time: last.time }]);
    const { json } = await to.request<{ data: AlertEntry[] }>('GET', '/api/alerts/search?status=firing');
    assert.deepEqual(json.data[0]?.resolvedBy, first.resolvedBy);
  };
  await check(app);
  const [, stored] = await readRecords(app);
  assert.deepEqual([stored?.['resolves'], stored?.['firingLevel'], stored?.['level']], [firing, 'CRITICAL', 'INFO']);
  await app.close();
  const next = await startApp(t, { settings: { dataDir: join(app.folder, 'data') } });
  await check(next);
  const again = await sendForeign(next, { startsAt: '2026-01-31T10:00:00Z' });
  assert.equal((await read(next, again)).resolvedBy, null);
  const end = await sendForeign(next, { startsAt: '2026-01-31T10:00:00Z', status: 'resolved' });
  assert.deepEqual([(await read(next, end)).resolves, (await read(next, again)).resolvedBy?.id], [again, end]);
});

test('a resolution of an unknown alert has the level that its sender gives', async (t) => {
  const app = await startApp(t);
  await sendForeign(app, { status: 'resolved', labels: { alertname: 'a', severity: 'page' } });
  const [stored] = await readRecords(app);
  assert.deepEqual([stored?.['resolves'], stored?.['firingLevel']], [undefined, 'CRITICAL']);
});

test('a resolution names the worst alert of the series, also after an acknowledgement', async (t) => {
  const app = await startApp(t);
  const send = async (action: string, severity: string): Promise<void> => {
    const body = { event_action: action, dedup_key: 'k', payload: { summary: 's', severity } };
    assert.equal((await app.request('POST', '/api/alert/pagerduty', { body })).status, 202);
  };
  await send('trigger', 'warning');
  await send('trigger', 'critical');
  await send('acknowledge', 'critical');
  await send('resolve', 'info');
  const records = await readRecords(app);
  assert.deepEqual([records[3]?.['resolves'], records[3]?.['firingLevel']], [records[1]?.['id'], 'CRITICAL']);
  for (const { id } of records.slice(0, 3)) assert.equal((await read(app, `${id}`)).resolvedBy?.id, records[3]?.['id']);
});

test('a sender cannot resolve the alert of another sender', async (t) => {
  const [one, other] = ['one', 'other'].map((name) => createAccessKey(name, ['alerts:write']));
  const app = await startApp(t, { settings: { keys: [one?.entry, other?.entry] } });
  const firing = await sendForeign(app, {}, one?.key);
  const resolved = await sendForeign(app, { status: 'resolved' }, other?.key);
  assert.deepEqual([(await read(app, firing)).resolvedBy, (await read(app, resolved)).resolves], [null, null]);
});

test('native alerts with one key are all stored, and a resolution with the key resolves all of them', async (t) => {
  const app = await startApp(t);
  const body = { source: 'backup', level: 'ERROR', message: 'failed', key: 'backup/web-1' };
  const first = await sendAlert(app, body);
  const second = await sendAlert(app, body);
  assert.notEqual(first, second);
  const end = await sendAlert(app, { ...body, level: 'INFO', message: 'works again', status: 'resolved' });
  assert.equal((await read(app, end)).resolves, second);
  for (const id of [first, second]) {
    const { status, fingerprint, resolvedBy } = await read(app, id);
    assert.deepEqual([status, fingerprint, resolvedBy?.id], ['firing', 'backup/web-1', end]);
  }
  const [, , stored] = await readRecords(app);
  assert.deepEqual([stored?.['level'], stored?.['firingLevel'], stored?.['message']], ['INFO', 'ERROR', 'works again']);
});

test('a native alert keeps key, status, labels and link, which the response and the list leave out', async (t) => {
  const app = await startApp(t);
  const four = { source: 'backup', level: 'ERROR', message: 'failed', hostname: 'web-1' };
  const more = { key: 'k', status: 'firing', labels: { team: 'db' }, link: 'https://u:p@ci.example/7?a=1&token=x' };
  const { status, json } = await app.request('POST', '/api/alert', { body: { ...four, ...more } });
  assert.deepEqual([status, Object.keys(json)], [200, ['received', 'id']]);
  const { json: list, headers } = await app.request<{ data: object[] }>('GET', '/api/alerts');
  const six = ['timestamp', 'source', 'level', 'message', 'hostname', 'receivedAt'];
  assert.deepEqual(Object.keys(list.data[0] ?? {}), six);
  assert.equal(headers['link'], '<alerts/search>; rel="alternate"');
  const { fingerprint, labels, link } = await read(app, json['id'] as string);
  assert.deepEqual([fingerprint, labels, link], ['k', { team: 'db' }, 'https://ci.example/7?a=1']);
  await sendAlert(app, { ...four, key: null, status: null, labels: null, link: '' });
  for (const [wrong, error] of [
    [{ key: 7 }, 'key must be a string'],
    [{ status: 1 }, 'status must be a string'],
    [{ labels: 'a' }, 'labels must be an object'],
    [{ link: {} }, 'link must be a string'],
  ] as const) {
    const refused = await app.request('POST', '/api/alert', { body: { ...four, ...wrong } });
    assert.deepEqual([refused.status, refused.json], [400, { error }], JSON.stringify(wrong));
  }
  assert.equal((await readRecords(app)).length, 2);
});

test('an alert with any text as key, status or link is stored without the unusable texts', async (t) => {
  const app = await startApp(t);
  const long = 'x'.repeat(300);
  for (const [given, expected] of [
    [{ key: '' }, [null, null, null]],
    [{ status: '' }, [null, null, null]],
    [{ status: 'down', key: 'k' }, ['firing', 'k', null]],
    [{ status: 'Resolved', key: 'k' }, ['resolved', 'k', null]],
    [{ link: 'see the wiki' }, [null, null, null]],
    [{ link: 'javascript:alert(1)' }, [null, null, null]],
  ] as const) {
    const { status, fingerprint, link } = await read(app, await sendAlert(app, { message: 'm', ...given }));
    assert.deepEqual([status, fingerprint, link], expected, JSON.stringify(given));
  }
  const keys = await Promise.all(
    [`${long}1`, `${long}2`].map(
      async (key) => (await read(app, await sendAlert(app, { message: 'm', key }))).fingerprint,
    ),
  );
  assert.notEqual(keys[0], keys[1]);
  assert.equal(keys[0]?.length, 256);
  const { labels } = await read(
    app,
    await sendAlert(app, { message: 'm', labels: { a: 1, b: true, c: 'text', d: {} } }),
  );
  assert.deepEqual(labels, { a: '1', b: 'true', c: 'text' });
});

test('a resolution resolves an alert of version 1.0, which has no sender', () => {
  const firing = new FiringAlerts(() => new Date());
  const alert = { format: 'alertmanager', fingerprint: 'f', level: 'CRITICAL', time: new Date().toISOString() };
  firing.fold({ ...alert, id: 'a', seq: 1, status: 'firing' });
  const end = { ...alert, id: 'b', status: 'resolved', sender: 'key:am' };
  assert.equal(firing.findFiring(end)?.id, 'a');
  firing.fold({ ...end, seq: 2 });
  assert.equal(firing.findResolution({ id: 'a' })?.id, 'b');
  assert.equal(firing.findFiring(end), undefined);
});

test('the latest of very many firing alerts are remembered', () => {
  const firing = new FiringAlerts(() => new Date());
  const time = new Date().toISOString();
  for (let index = 0; index < 100_000; index += 1) {
    firing.fold({
      id: `${index}`,
      seq: index + 1,
      time,
      format: 'grafana',
      fingerprint: `${index}`,
      level: 'ERROR',
      status: 'firing',
    });
  }
  const find = (fingerprint: string) => firing.findFiring({ format: 'grafana', fingerprint });
  assert.deepEqual([find('0'), find('99999')?.id], [undefined, '99999']);
});
