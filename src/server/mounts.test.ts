import assert from 'node:assert/strict';
import { test } from 'node:test';
import { features } from '../features/index.ts';
import { resolveMounts } from './mounts.ts';

const list = (wanted: Parameters<typeof resolveMounts>[0], some = features) =>
  resolveMounts(wanted, some).map(({ base, profiles }) => `${base}: ${profiles.join(', ')}`);

test('by default each profile has the mounts of its feature, in the order of lists', () => {
  assert.deepEqual(list({}), [
    '/: alerts, incidents, snapshots, silences, notifications, oncall, alertmanager, watches, heartbeats, availability, status-pages, monitoring, status, history, tasks, commands, settings, login, accounts, metrics, hosts, events, instances, about, items',
    '/protected: login, protected-tasks',
    '/simple: simple-tasks',
  ]);
});

test('profiles named by name or letter replace the default mounts with one at /, in the given order', () => {
  assert.deepEqual(list({ profiles: ['X', 'login', 'alerts', 'A'] }), ['/: alerts, notifications, commands, login']);
});

test('a feature left out of the program is left out of the default mounts', () => {
  const some = features.filter(({ name }) => name !== 'tasks' && name !== 'simple-tasks');
  const [main = '', protectedOnes = ''] = list({});
  assert.deepEqual(list({}, some), [main.replace(' tasks,', ''), protectedOnes.replace(', protected-tasks', '')]);
});
