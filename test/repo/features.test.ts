import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { features } from '../../src/features/index.ts';
import { packageRoot } from '../../src/server/package-info.ts';
import { startApp } from '../support/app.ts';

/** GET requests that show that each feature is present, with their statuses. */
const probes: Record<string, [path: string, status: number][]> = {
  monitoring: [['/health', 200]],
  tasks: [
    ['/api/tasks', 200],
    ['/protected/api/tasks', 401],
  ],
  'simple-tasks': [['/simple/api/tasks', 200]],
  items: [['/api/items', 401]],
  accounts: [
    ['/api/auth/login', 405],
    ['/protected/api/auth/login', 405],
  ],
  settings: [['/api/audit', 401]],
  alerts: [['/api/alerts', 200]],
  silences: [['/api/silences', 200]],
  incidents: [['/api/incidents', 200]],
  heartbeats: [['/api/heartbeats', 200]],
  notifications: [['/api/deliveries', 401]],
  alertmanager: [['/api/v2/status', 200]],
  commands: [['/api/execute', 405]],
  metrics: [['/metrics', 200]],
  history: [['/api/history', 200]],
  watches: [['/api/watches', 401]],
  pictures: [['/api/incidents/1/snapshot', 401]],
  status: [['/api/status', 200]],
  about: [['/api/about', 401]],
  events: [['/api/events', 400]],
  console: [['/console', 302]],
  // Served only with a database.
  instances: [],
};

test('the list of features has every folder of src/features, and each feature has a probe', () => {
  const folders = readdirSync(join(packageRoot, 'src', 'features'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  const names = features.map(({ name }) => name);
  assert.deepEqual(names.toSorted(), folders.toSorted());
  assert.deepEqual(Object.keys(probes).toSorted(), folders.toSorted());
});

test('the other features work if any one is left out', async (t) => {
  for (const { name: missing } of features) {
    const { request } = await startApp(t, { features: features.filter(({ name }) => name !== missing) });
    for (const [name, requests] of Object.entries(probes)) {
      for (const [path, status] of requests) {
        const answer = await request('GET', path);
        assert.equal(answer.status, name === missing ? 404 : status, `${path} without ${missing}`);
      }
    }
    const { json } = await request<{ paths: object }>('GET', '/openapi.json');
    const isNamed = Object.keys(json.paths).some((path) => probes[missing]?.some(([probe]) => probe === path));
    assert.equal(isNamed, false, `openapi.json without ${missing}`);
  }
});

test('each feature works alone', async (t) => {
  for (const feature of features) {
    const { request } = await startApp(t, { features: [feature] });
    for (const [path, status] of probes[feature.name] ?? []) {
      assert.equal((await request('GET', path)).status, status, path);
    }
  }
});
