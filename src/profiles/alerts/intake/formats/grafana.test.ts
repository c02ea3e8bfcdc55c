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
      'https://grafana.example/alerting/grafana/abc/view',
    ],
  );
});

test("the folder is the source of a rule without a name, and the notification's title its message", () => {
  const alert = { ...sample, labels: { grafana_folder: 'Shop', priority: 'P3' }, annotations: null };
  const { source, level, message } = readAlert(grafana, { ...samples.grafana, alerts: [alert] });
  assert.deepEqual([source, level, message], ['grafana/Shop', 'WARNING', samples.grafana.title]);
});
