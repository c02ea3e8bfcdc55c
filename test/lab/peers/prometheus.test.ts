import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { packageRoot } from '../../../src/server/package-info.ts';
import { readText } from '../../repo/support/documents.ts';
import { startApp } from '../../support/app.ts';
import { runPromtool, startPrometheus } from '../../support/prometheus.ts';
import { waitUntilPasses } from '../../support/wait.ts';
import { requires } from '../faults/support/requirements.ts';

const needs = requires({ programs: ['prometheus', 'promtool'] });
const rules = join(packageRoot, 'examples', 'prometheus-rules.yml');

interface Dashboard {
  panels: { title: string; targets: { expr: string }[] }[];
}

const { panels }: Dashboard = JSON.parse(readText('examples/grafana-dashboard.json'));

/** Expressions in the dashboard, with Grafana's variables filled in. */
const expressions = panels.flatMap(({ targets }) =>
  targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '1m').replaceAll('$instance', '.*')),
);

test('promtool accepts the configuration and the rules in examples', needs, async () => {
  const config = join(packageRoot, 'examples', 'prometheus.yml');
  for (const args of [
    ['check', 'rules', rules],
    ['check', 'config', config],
  ]) {
    const { code, output } = await runPromtool(args);
    assert.equal(code, 0, output);
    assert.match(output, /SUCCESS/);
  }
});

test('a real Prometheus scrapes /metrics, returns its values, and loads rules and dashboard', needs, async (t) => {
  const app = await startApp(t, { settings: { metricsAuth: 'bearer' } });
  for (const level of ['ERROR', 'ERROR', 'INFO']) {
    await app.request('POST', '/api/alert', { body: { message: 'a', level } });
  }
  const prometheus = await startPrometheus(
    t,
    JSON.stringify({
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: [rules],
      scrape_configs: [
        {
          job_name: 'signalbox',
          static_configs: [{ targets: [new URL(app.url).host] }],
          authorization: { credentials: await app.login('reader') },
        },
      ],
    }),
  );
  await waitUntilPasses(async () => {
    assert.deepEqual(
      (await prometheus.query('signalbox_alerts_received_total{level=~"error|info"}')).map(({ value }) => value),
      [2, 1],
    );
    const [up] = await prometheus.query('up{job="signalbox"}');
    assert.equal(up?.value, 1);
  }, 30_000);
  type Rules = { groups: { rules: { name: string; health: string }[] }[] };
  await waitUntilPasses(async () => {
    const { groups } = await prometheus.ask<Rules>('/api/v1/rules');
    const loaded = groups.flatMap((group) => group.rules);
    assert.ok(loaded.length >= 10);
    assert.deepEqual(
      loaded.filter(({ health }) => health !== 'ok').map(({ name }) => name),
      [],
    );
  }, 30_000);
  // Rates need two scrapes.
  await waitUntilPasses(async () => {
    for (const expression of expressions) {
      const results = await prometheus.query(expression);
      assert.ok(results.length > 0, expression);
    }
  }, 30_000);
});
