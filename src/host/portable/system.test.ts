import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toDomain, toSystemReading } from './system.ts';

const windows = {
  os: {
    distro: 'Microsoft Windows 11 Pro',
    release: '10.0.22631',
    fqdn: 'pc.corp.example',
    hypervizor: true,
  },
  system: { manufacturer: 'LENOVO', model: '20XW', virtual: false },
  users: [{}, {}],
};

test('the system reading reports what systeminformation found', () => {
  const { osName, domain, manufacturer, model, hypervisorPresent, userCount } = toSystemReading(windows);
  assert.deepEqual(
    [osName, domain, manufacturer, model, hypervisorPresent, userCount],
    ['Microsoft Windows 11 Pro 10.0.22631', 'corp.example', 'LENOVO', '20XW', true, 2],
  );
});

test('system values that are empty or unknown are null', () => {
  const { osName, domain, manufacturer, model, hypervisorPresent } = toSystemReading({
    os: { distro: 'unknown', release: 'unknown', fqdn: 'pc' },
    system: { manufacturer: '', model: '', virtual: false },
    users: [],
  });
  assert.deepEqual([osName, domain, manufacturer, model, hypervisorPresent], [null, null, null, null, false]);
});

test('the domain begins after the first dot', () => {
  assert.equal(toDomain('a.b.c'), 'b.c');
  assert.equal(toDomain(''), null);
});
