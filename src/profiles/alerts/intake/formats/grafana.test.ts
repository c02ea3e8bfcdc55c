import assert from 'node:assert/strict';
import { test } from 'node:test';
import { samples } from '../../../../../test/support/alert-samples.ts';
import { readAlert } from '../../../../../test/support/formats.ts';
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

test('its description and links are kept', () => {
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
