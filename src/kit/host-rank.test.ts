import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareHosts } from './host-rank.ts';

test('hosts are sorted by worst state, then by incidents, then by name with numbers by value', () => {
  const create = (name: string, more: object = {}) =>
    ({ name, state: 'up', worstSeverity: null, openIncidents: 0, ...more }) as const;
  const hosts = [
    create('web-10'),
    create('web-2'),
    create('db-1', { worstSeverity: 'ERROR', openIncidents: 1 }),
    create('db-2', { worstSeverity: 'ERROR', openIncidents: 2 }),
    create('cache', { state: 'silent' }),
  ];
  const names = hosts.toSorted(compareHosts).map(({ name }) => name);
  assert.deepEqual(names, ['cache', 'db-2', 'db-1', 'web-2', 'web-10']);
});
