import assert from 'node:assert/strict';
import { test } from 'node:test';
import { samples } from '../../../../../test/support/alert-samples.ts';
import { readRecords } from '../../../../../test/support/alerts.ts';
import { startApp } from '../../../../../test/support/app.ts';
import { readAlert } from '../../../../../test/support/formats.ts';
import { startReceiver } from '../../../../../test/support/receiver.ts';
import { waitUntil } from '../../../../../test/support/wait.ts';
import { grafana } from './grafana.ts';

const [sample] = samples.grafana.alerts;

test('an alert of Grafana without a severity is an error', () => {
  const { source, level, message, hostname, link } = readAlert(grafana, samples.grafana);
  assert.deepEqual(
    [source, level, message, hostname, link],
    [
      'grafana/High latency',
      'ERROR',
      'Requests take 2 s',
      'shop-1',
      'https://grafana.example/alerting/grafana/abc/view?orgId=1',
    ],
  );
});

test("the folder is the source of a rule without a name, and the notification's title its message", () => {
  const alert = { ...sample, labels: { grafana_folder: 'Shop', priority: 'P3' }, annotations: null };
  const { source, level, message } = readAlert(grafana, { ...samples.grafana, alerts: [alert] });
  assert.deepEqual([source, level, message], ['grafana/Shop', 'WARNING', samples.grafana.title]);
});

test('an alert keeps its description and links', () => {
  const alert = {
    ...sample,
    annotations: { summary: 'Slow', description: 'p99 is 2 s', runbook_url: 'https://wiki.example/slow?token=x&id=7' },
    dashboardURL: 'https://grafana.example/d/abc?orgId=1&from=1',
    panelURL: 'https://grafana.example/d/abc?orgId=1&viewPanel=2',
    silenceURL: 'https://grafana.example/alerting/silence/new?matcher=alertname%3DSlow&orgId=1',
  };
  const { message, details, links } = readAlert(grafana, { ...samples.grafana, alerts: [alert] });
  assert.deepEqual([message, details], ['Slow', 'p99 is 2 s']);
  assert.deepEqual(links, {
    runbook: 'https://wiki.example/slow?id=7',
    dashboard: alert.dashboardURL,
    panel: alert.panelURL,
    silence: alert.silenceURL,
  });
});

test('an alert of Grafana about a failed query names the rule and the problem', async (t) => {
  const app = await startApp(t);
  const post = async (labels: object, annotations?: object): Promise<void> => {
    const alerts = [{ status: 'firing', labels: { grafana_folder: 'Shop', ...labels }, annotations }];
    const { status } = await app.request('POST', '/api/alert/grafana', { body: { version: '1', alerts } });
    assert.equal(status, 200);
  };
  const rulename = 'High latency';
  await post({ alertname: 'DatasourceNoData', rulename }, { summary: 'Requests take [no value] s' });
  await post(
    { alertname: 'DatasourceError', rulename },
    { Error: 'dial tcp: connection refused', description: 'Slow' },
  );
  await post({ alertname: 'DatasourceError', rulename, ref_id: 'A' });
  const records = await readRecords(app);
  assert.deepEqual(
    records.map(({ source, message, details }) => [source, message, details]),
    [
      ['grafana/High latency', 'High latency: no data', 'Requests take [no value] s'],
      ['grafana/High latency', 'High latency: dial tcp: connection refused', 'Slow'],
      ['grafana/High latency', 'High latency: the query failed', undefined],
    ],
  );
});

test('a resolved alert without annotations does not rename the incident, and no title names an unknown host', async (t) => {
  const receiver = await startReceiver(t);
  const ntfy = { type: 'ntfy', url: `${receiver.url}/topic` };
  const destinations = [
    { ...ntfy, name: 'alerts', notify: 'alerts' },
    { ...ntfy, name: 'incidents', notify: 'incidents', groupSeconds: 0 },
  ];
  const app = await startApp(t, { settings: { destinations } });
  const post = async (status: string, annotations?: object): Promise<void> => {
    const alerts = [{ status, labels: { alertname: 'High latency' }, annotations, fingerprint: 'f1' }];
    const response = await app.request('POST', '/api/alert/grafana', { body: { version: '1', alerts } });
    assert.equal(response.status, 200);
  };
  const listTitles = () => receiver.requests.map(({ headers }) => headers['title']).sort();
  await post('firing', { summary: 'Requests take 2 s' });
  await waitUntil('both destinations have a message', () => receiver.requests.length === 2);
  assert.deepEqual(listTitles(), ['ERROR #1 Requests take 2 s', 'ERROR grafana/High latency']);
  receiver.requests.length = 0;
  await post('resolved');
  await waitUntil('both destinations have a message', () => receiver.requests.length === 2);
  assert.deepEqual(listTitles(), ['INFO grafana/High latency', 'Resolved #1: Requests take 2 s']);
});
