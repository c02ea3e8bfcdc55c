import assert from 'node:assert/strict';
import { test } from 'node:test';
import { samples } from '../../../../../test/support/alert-samples.ts';
import { readRecords } from '../../../../../test/support/alerts.ts';
import { startApp } from '../../../../../test/support/app.ts';
import { readAlert } from '../../../../../test/support/formats.ts';
import { pagerduty } from './pagerduty.ts';

interface IncidentPage {
  data: { id: string; number: number; state: string; title: string; acknowledgedBy: string | null }[];
}

interface TimelinePage {
  timeline: { type: string; by: string | null; alert: string | null }[];
}

const sample = samples.pagerduty;

test('a triggered event has its summary as message, and its details as labels', () => {
  assert.deepEqual(readAlert(pagerduty, sample), {
    source: 'pagerduty/disk',
    level: 'CRITICAL',
    message: 'The disk of web-1 is full',
    details: undefined,
    links: undefined,
    hostname: 'web-1.example',
    status: 'firing',
    fingerprint: 'backup/web-1',
    acknowledges: false,
    state: 'trigger',
    startsAt: '2026-01-31T09:30:00.000Z',
    labels: { component: 'disk', group: 'storage', class: 'usage', used: '99%', free: '12' },
    link: 'https://backup.example/web-1',
  });
});

test('acknowledge and resolve events need no payload, and have their key as message', () => {
  const read = (action: string) => readAlert(pagerduty, { event_action: action, dedup_key: 'backup/web-1' });
  const acknowledged = read('acknowledge');
  assert.deepEqual(
    [acknowledged.level, acknowledged.message, acknowledged.status],
    ['INFO', 'Acknowledged: backup/web-1', 'firing'],
  );
  const resolved = read('resolve');
  assert.deepEqual([resolved.message, resolved.status], ['backup/web-1', 'resolved']);
});

test('a trigger without a payload and any other event without a key are refused', () => {
  assert.throws(() => readAlert(pagerduty, { event_action: 'trigger' }), /^Error: payload.summary is required/);
  assert.throws(() => readAlert(pagerduty, { event_action: 'resolve' }), /^Error: dedup_key is required/);
  assert.throws(() => readAlert(pagerduty, { event_action: 'close' }), /^Error: event_action must be one of trigger, /);
});

test('links of PagerDuty have their texts as names', () => {
  const links = [
    { href: 'https://wiki.example/disk', text: 'Runbook' },
    { href: 'https://g.example/d/1' },
    { href: 'not a URL', text: 'x' },
  ];
  const alert = readAlert(pagerduty, { ...sample, client_url: undefined, links });
  assert.deepEqual(alert.links, { Runbook: 'https://wiki.example/disk', 'link 2': 'https://g.example/d/1' });
  assert.equal(alert.link, 'https://wiki.example/disk');
});

test('a trigger without a key gets a key, which resolves the alert with any payload', async (t) => {
  const app = await startApp(t);
  const post = async (body: object) =>
    app.request<{ dedup_key: string; error?: string }>('POST', '/api/alert/pagerduty', { body });
  const payload = { summary: 404, source: 'web-1', component: 7, group: true };
  const { status, json } = await post({ event_action: 'trigger', payload });
  assert.equal(status, 202);
  assert.match(json.dedup_key, /^[0-9a-f]{32}$/);
  const other = await post({ event_action: 'trigger', dedup_key: '', payload });
  assert.notEqual(other.json.dedup_key, json.dedup_key);
  for (const action of ['acknowledge', 'resolve']) {
    const event = { event_action: action, dedup_key: json.dedup_key, payload: { source: 'web-1', severity: 3 } };
    assert.deepEqual((await post(event)).json.dedup_key, json.dedup_key, action);
  }
  const [fired = {}, again = {}, , resolved = {}] = await readRecords(app);
  assert.deepEqual([fired['message'], fired['source'], again['message']], ['404', 'pagerduty/7', '404']);
  assert.deepEqual([fired['fingerprint'], resolved['resolves']], [json.dedup_key, fired['id']]);
  await post({ event_action: 'trigger', dedup_key: 42, payload });
  assert.equal((await post({ event_action: 'resolve', dedup_key: '42' })).status, 202);
  const [, , , , numbered = {}, last = {}] = await readRecords(app);
  assert.equal(last['resolves'], numbered['id']);
  const refused = await post({ event_action: 'trigger', payload: { source: 'web-1' } });
  assert.deepEqual([refused.status, refused.json.error], [400, 'payload.summary is required to trigger an alert']);
});

test('an acknowledge event acknowledges the incident with its key without renaming the incident, and opens no incident', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const post = async (event_action: string, dedup_key: string, payload?: object): Promise<void> => {
    const body = { event_action, dedup_key, payload };
    assert.equal((await app.request('POST', '/api/alert/pagerduty', { body })).status, 202);
  };
  const list = async (query = '') =>
    (await app.request<IncidentPage>('GET', `/api/incidents${query}`, { token })).json.data;
  await post('acknowledge', 'backup');
  assert.deepEqual(await list(), []);
  await post('trigger', 'backup', { summary: 'No backup since Monday', severity: 'error' });
  await post('acknowledge', 'backup', { summary: 'somebody is on it' });
  const [incident] = await list();
  assert.deepEqual(
    [incident?.state, incident?.title, incident?.acknowledgedBy],
    ['acknowledged', 'No backup since Monday', 'address:127.0.0.1'],
  );
  const { json } = await app.request<TimelinePage>('GET', `/api/incidents/${incident?.id}`, { token });
  const records = await readRecords(app);
  assert.deepEqual(
    json.timeline.find(({ type }) => type === 'acknowledged'),
    { ...json.timeline.at(-1), type: 'acknowledged', by: 'address:127.0.0.1', alert: records[2]?.['id'] },
  );
  await post('resolve', 'backup');
  await post('acknowledge', 'backup');
  assert.deepEqual(
    (await list('?state=all')).map(({ state, title }) => [state, title]),
    [['resolved', 'No backup since Monday']],
  );
});

test('an acknowledge event from the sender does not replace the person who has acknowledged the incident', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const post = (event_action: string) =>
    app.request('POST', '/api/alert/pagerduty', {
      body: { event_action, dedup_key: 'backup', payload: { summary: 'No backup' } },
    });
  await post('trigger');
  const read = async () => (await app.request<IncidentPage>('GET', '/api/incidents', { token })).json.data[0];
  const { id } = (await read()) ?? {};
  assert.equal((await app.request('POST', `/api/incidents/${id}/acknowledge`, { token, body: {} })).status, 200);
  await post('acknowledge');
  assert.equal((await read())?.acknowledgedBy, 'admin');
});
