import assert from 'node:assert/strict';
import { test } from 'node:test';
import { samples } from '../../../../../test/support/alert-samples.ts';
import { readRecords } from '../../../../../test/support/alerts.ts';
import { startApp } from '../../../../../test/support/app.ts';
import { readAlert, readAlerts } from '../../../../../test/support/formats.ts';
import { alertmanagerFormat } from './alertmanager.ts';

test('each alert of a webhook has its own status, level, text, host, times and link', () => {
  const [firing, resolved] = readAlerts(alertmanagerFormat, samples.alertmanager);
  assert.deepEqual(firing, {
    source: 'alertmanager/HostDown',
    level: 'CRITICAL',
    message: 'web-1 does not answer',
    hostname: 'web-1',
    status: 'firing',
    fingerprint: 'd8e1c9a1f3b2a047',
    startsAt: '2026-01-31T09:30:00.123Z',
    endsAt: undefined,
    labels: { alertname: 'HostDown', severity: 'critical', instance: 'web-1:9100', job: 'node' },
    link: 'http://prometheus.example:9090/graph?g0.expr=up+%3D%3D+0&g0.tab=1',
    details: 'No scrape for five minutes',
    links: undefined,
    via: '',
  });
  assert.equal(resolved?.status, 'resolved');
  assert.equal(resolved.hostname, '2001:db8::7');
  assert.equal(resolved.message, 'No scrape for five minutes');
  assert.equal(resolved.startsAt, '2026-01-31T07:30:00.000Z');
  assert.equal(resolved.endsAt, '2026-01-31T08:00:00.000Z');
  assert.equal(resolved.link, undefined);
});

test('without a name, the source is the job, or else the receiver', () => {
  const read = (labels: object) => readAlert(alertmanagerFormat, { receiver: 'team', alerts: [{ labels }] }).source;
  assert.equal(read({ alertname: '', job: 'node' }), 'alertmanager/node');
  assert.equal(read({}), 'alertmanager/team');
});

test('an empty alert is a warning of an unknown host', () => {
  const { level, hostname, status, source } = readAlert(alertmanagerFormat, { alerts: [{ labels: {} }] });
  assert.deepEqual([level, hostname, status, source], ['WARNING', 'unknown', 'firing', 'alertmanager']);
});

test('annotations other than the message become details and links', () => {
  const annotations = {
    description: 'The only text',
    runbook_url: 'https://wiki.example/1',
    dashboard: 'https://g.example/d/1',
  };
  const read = (more: object) =>
    readAlert(alertmanagerFormat, { alerts: [{ labels: {}, annotations: { ...annotations, ...more } }] });
  const links = { runbook: 'https://wiki.example/1', dashboard: 'https://g.example/d/1' };
  const { message, details } = read({});
  assert.deepEqual([message, details, read({}).links], ['The only text', undefined, links]);
  assert.equal(read({ summary: 'Short' }).details, 'The only text');
});

test('alerts without fingerprints are distinguished by their labels', async (t) => {
  const app = await startApp(t);
  const post = async (...labels: object[]): Promise<unknown> => {
    const body = { version: '4', alerts: labels.map((each) => ({ labels: each })) };
    const { status, json } = await app.request<{ repeated: number }>('POST', '/api/alert/alertmanager', { body });
    assert.equal(status, 200);
    return json.repeated;
  };
  assert.equal(await post({ alertname: 'Full', disk: 'a' }, { alertname: 'Full', disk: 'b' }), 0);
  assert.equal(await post({ disk: 'b', alertname: 'Full' }), 1);
  assert.equal(await post({}, {}), 0, 'those without labels are not known to be the same');
});

for (const [path, wrap] of [
  ['/api/alert/alertmanager', (alert: object) => ({ version: '4', alerts: [alert] })],
  ['/api/alert/grafana', (alert: object) => ({ version: '1', alerts: [alert] })],
  ['/api/v2/alerts', (alert: object) => [alert]],
] as const) {
  test(`empty labels are dropped, and numbers converted to texts, at ${path}`, async (t) => {
    const app = await startApp(t);
    const post = async (labels: object, endsAt?: string): Promise<void> => {
      const alert = { labels, annotations: { summary: 7, via: '' }, ...(endsAt && { endsAt, status: 'resolved' }) };
      const body = wrap(path === '/api/v2/alerts' ? { ...alert, status: undefined } : alert);
      assert.equal((await app.request('POST', path, { body })).status, 200);
    };
    await post({ alertname: 'Full', shard: 3, up: false, zone: '' });
    await post({ alertname: 'Full', shard: '3', up: 'false' }, '2026-01-31T09:59:59Z');
    const [firing = {}, resolved = {}] = await readRecords(app);
    assert.deepEqual(firing['labels'], { alertname: 'Full', shard: '3', up: 'false' });
    assert.deepEqual([firing['message'], resolved['message']], ['7', 'Resolved: 7']);
    assert.equal(resolved['resolves'], firing['id']);
  });
}
