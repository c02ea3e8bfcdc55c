import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SettingsError } from '../config/settings-error.ts';
import { features } from '../features/index.ts';
import { resolveMounts } from './mounts.ts';

const list = (wanted: Parameters<typeof resolveMounts>[0]) =>
  resolveMounts(wanted, features).map(({ base, profiles }) => `${base}: ${profiles.join(', ')}`);

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
  assert.deepEqual(resolveMounts({}, some), [
    {
      base: '/',
      profiles: [
        'alerts',
        'incidents',
        'snapshots',
        'silences',
        'notifications',
        'oncall',
        'alertmanager',
        'watches',
        'heartbeats',
        'availability',
        'status-pages',
        'monitoring',
        'status',
        'history',
        'commands',
        'settings',
        'login',
        'accounts',
        'metrics',
        'hosts',
        'events',
        'instances',
        'about',
        'items',
      ],
    },
    { base: '/protected', profiles: ['login'] },
  ]);
});

test('every invalid path and unknown profile is reported', () => {
  const mounts = { tools: ['T'], '/docs/x': ['Y'], '/a/../b': ['T'], '/.': ['T'], '/..a/.b': ['T'] };
  assert.throws(
    () => resolveMounts({ mounts }, features),
    (error: Error) => {
      assert.ok(error instanceof SettingsError);
      assert.match(
        error.problems.join('\n'),
        /^mount "tools" must be .*\nmount "\/docs\/x" is reserved .*\nthere is no profile "Y"; .*\nmount "\/a\/\.\.\/b" must not have a segment .*\nmount "\/\." must not have a segment .*$/,
      );
      return true;
    },
  );
});
