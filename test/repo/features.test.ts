import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { features } from '../../src/features/index.ts';
import type { Feature } from '../../src/kit/feature.ts';
import { isNamed } from '../../src/server/mounts.ts';
import { packageRoot } from '../../src/server/package-info.ts';
import { startApp } from '../support/app.ts';

/** GET requests that prove that each feature is present, with their statuses. */
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
  availability: [['/api/availability', 200]],
  'status-pages': [['/api/status-pages', 401]],
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
  hosts: [['/api/hosts', 401]],
  // This feature has no routes.
  reports: [],
  console: [['/console', 302]],
  // Instances are served only with a database.
  instances: [],
};

test('the list of features has every folder in src/features, and each feature has a probe', () => {
  const folders = readdirSync(join(packageRoot, 'src', 'features'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  const names = features.map(({ name }) => name);
  assert.deepEqual(names.toSorted(), folders.toSorted());
  assert.deepEqual(Object.keys(probes).toSorted(), folders.toSorted());
});

/** Returns the default mounts of profiles whose feature passes `isServed`. */
const mountOnly = (isServed: (feature: Feature) => boolean): Record<string, string[]> => {
  const mounts: Record<string, string[]> = {};
  for (const feature of features.filter(({ needsDatabase }) => !needsDatabase)) {
    for (const { name, mounts: bases = [] } of isServed(feature) ? feature.profiles : []) {
      for (const base of bases) mounts[base] = [...(mounts[base] ?? []), name];
    }
  }
  return mounts;
};

test('features need only listed features', () => {
  const names = features.map(({ name }) => name);
  for (const { name, needs = [] } of features) {
    for (const need of needs) assert.ok(names.includes(need), `${name} needs ${need}`);
  }
});

/** Returns the names of the feature's profiles that are mounted, under their names or aliases. */
const listServed = ({ profiles }: Feature, mounts: Record<string, string[]>): string[] =>
  profiles
    .filter((profile) => Object.values(mounts).some((names) => names.some((one) => isNamed(profile, one))))
    .map(({ name }) => name);

test('exactly the routes of mounted profiles are served, also if any feature is mounted without any other', async (t) => {
  const mountable = features.filter(({ needsDatabase, profiles }) => !needsDatabase && profiles.length > 0);
  // Any two features differ in one bit of their places.
  const bits = Array.from({ length: Math.ceil(Math.log2(mountable.length)) }, (_, bit) => 1 << bit);
  for (const [bit, value] of bits.flatMap((each) => [[each, 0] as const, [each, each] as const])) {
    const mounts = mountOnly((one) => (mountable.indexOf(one) & bit) === value);
    const { request } = await startApp(t, { settings: { mounts } });
    const { json } = await request<{ paths: object; tags: { name: string }[] }>('GET', '/openapi.json');
    for (const each of features) {
      const about = `${each.name} of ${Object.values(mounts).flat().join(', ')}`;
      const served = listServed(each, mounts);
      // Probes use the routes of the first profile, and the setting `console` serves the console.
      const isProbed = each.name === 'console' || served.includes(each.profiles[0]?.name ?? '');
      for (const [path, status] of probes[each.name] ?? []) {
        assert.equal((await request('GET', path)).status, isProbed ? status : 404, `${path}: ${about}`);
      }
      const tags = each.profiles.flatMap(({ name }) => json.tags.filter((tag) => tag.name === name));
      assert.deepEqual(
        tags.map(({ name }) => name),
        served,
        `tags: ${about}`,
      );
    }
  }
});
