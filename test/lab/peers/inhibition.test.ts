import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Arbitrary } from 'fast-check';
import { startApp, type TestApp } from '../../support/app.ts';
import { createFolder } from '../../support/folder.ts';
import { fc } from '../../support/random.ts';
import { waitUntilPasses } from '../../support/wait.ts';
import { findMissing, findPort, startPeer } from './peer.ts';

const skip = findMissing('prometheus-alertmanager');

/** Number of random rule sets, and number of random changes to the alerts under each. */
const ruleSets = 12;
const changes = 4;
const alertCount = 25;

type Labels = Record<string, string>;

const names = ['alertname', 'severity', 'a', 'b'] as const;
const values = {
  alertname: ['Down', 'Full', 'Slow'],
  severity: ['critical', 'warning'],
  a: ['x', 'y', 'xy'],
  b: ['x', 'y', ''],
};

const matcher = fc
  .constantFrom(...names, 'missing')
  .chain((name) =>
    fc
      .tuple(
        fc.constantFrom('=', '!=', '=~', '!~'),
        fc.constantFrom(...(name === 'missing' ? ['', 'x'] : [...values[name], `${values[name][0]}|y`, '.+'])),
      )
      .map(([operator, value]) => `${name}${operator}"${value}"`),
  );
const side = fc.array(matcher, { minLength: 1, maxLength: 2 });
const rule = fc.record({
  source_matchers: side,
  target_matchers: side,
  equal: fc.uniqueArray(fc.constantFrom(...names, 'missing'), { maxLength: 2 }),
});
const labels: Arbitrary<Labels> = fc.record(
  {
    alertname: fc.constantFrom(...values.alertname),
    severity: fc.constantFrom(...values.severity),
    a: fc.constantFrom(...values.a),
    b: fc.constantFrom('x', 'y'),
    id: fc.integer({ min: 1, max: 9 }).map(String),
  },
  { requiredKeys: ['alertname', 'severity', 'id'] },
);

const toKey = (all: Labels): string => JSON.stringify(Object.entries(all).toSorted());

const startAlertmanager = async (t: TestContext, rules: readonly object[]): Promise<string> => {
  const folder = createFolder(t);
  const url = `http://127.0.0.1:${await findPort()}`;
  const file = join(folder, 'alertmanager.yml');
  writeFileSync(file, JSON.stringify({ route: { receiver: 'n' }, receivers: [{ name: 'n' }], inhibit_rules: rules }));
  const args = [`--config.file=${file}`, `--storage.path=${folder}`, `--web.listen-address=${new URL(url).host}`];
  await startPeer(t, 'prometheus-alertmanager', [...args, '--cluster.listen-address='], `${url}/-/ready`);
  return url;
};

const listInhibitedThere = async (url: string): Promise<Map<string, boolean>> => {
  const all = (await (await fetch(`${url}/api/v2/alerts`)).json()) as {
    labels: Labels;
    status: { inhibitedBy: string[] };
  }[];
  return new Map(all.map((alert) => [toKey(alert.labels), alert.status.inhibitedBy.length > 0]));
};

const listInhibitedHere = async ({ request }: TestApp): Promise<Map<string, boolean>> => {
  const { json } = await request<{ data: { labels: Labels; cause: object | null }[] }>(
    'GET',
    '/api/incidents?limit=500',
  );
  return new Map(json.data.map((incident) => [toKey(incident.labels), incident.cause !== null]));
};

test('random alerts under random inhibit rules are inhibited exactly where Alertmanager inhibits them', {
  skip,
}, async (t) => {
  const { seed = 0 } = fc.readConfigureGlobal();
  let compared = 0;
  let inhibited = 0;
  for (const [index, rules] of fc
    .sample(fc.array(rule, { minLength: 1, maxLength: 4 }), { seed, numRuns: ruleSets })
    .entries()) {
    const there = await startAlertmanager(t, rules);
    const app = await startApp(t, { settings: { inhibitRules: rules, dependsGraceSeconds: 0 } });
    for (let change = 0; change < changes; change += 1) {
      const alerts = fc.sample(fc.tuple(labels, fc.boolean()), {
        seed: seed + 100 * index + change,
        numRuns: alertCount,
      });
      const now = Date.now();
      const body = [
        ...new Map(alerts.map(([each, isEnd]) => [toKey(each), { labels: each, isEnd: change > 0 && isEnd }])).values(),
      ].map(({ labels: each, isEnd }) => ({
        labels: each,
        annotations: {},
        startsAt: new Date(now - 5000).toISOString(),
        endsAt: new Date(isEnd ? now - 1000 : now + 3_600_000).toISOString(),
      }));
      const headers = { 'content-type': 'application/json' };
      const sent = await fetch(`${there}/api/v2/alerts`, { method: 'POST', headers, body: JSON.stringify(body) });
      assert.equal(sent.status, 200);
      assert.equal((await app.request('POST', '/api/v2/alerts', { body })).status, 200);
      await waitUntilPasses(async () => {
        const expected = await listInhibitedThere(there);
        const found = await listInhibitedHere(app);
        assert.deepEqual(new Map([...found].toSorted()), new Map([...expected].toSorted()), JSON.stringify(rules));
        compared += found.size;
        inhibited += [...found.values()].filter(Boolean).length;
      });
    }
    await app.close();
  }
  t.diagnostic(`${compared} alerts compared, ${inhibited} of them inhibited`);
  assert.equal(inhibited > compared / 20, true);
});
