import assert from 'node:assert/strict';
import { test } from 'node:test';
import { samples } from '../../../../../test/support/alert-samples.ts';
import { readAlert } from '../../../../../test/support/formats.ts';
import { uptimeKuma } from './uptime-kuma.ts';

const sample = samples['uptime-kuma'];

test('a notification has its monitor as source, its host, and the time of its heartbeat in UTC', () => {
  assert.deepEqual(readAlert(uptimeKuma, sample), {
    source: 'uptime-kuma/Shop',
    level: 'ERROR',
    message: sample.msg,
    details: undefined,
    hostname: 'shop.example',
    status: 'firing',
    fingerprint: '7',
    startsAt: '2026-01-31T09:30:00.123Z',
    labels: { monitor: 'Shop', type: 'http' },
    link: 'https://shop.example/health',
  });
});

for (const [name, status, level] of [
  ['down', 0, 'ERROR'],
  ['up', 1, 'INFO'],
  ['pending', 2, 'WARNING'],
  ['maintenance', 3, 'INFO'],
  ['unknown', 9, 'WARNING'],
] as const) {
  test(`the status ${name} of a monitor is ${level}`, () => {
    const alert = readAlert(uptimeKuma, { ...sample, heartbeat: { ...sample.heartbeat, status } });
    assert.equal(alert.level, level);
    assert.equal(alert.status, status === 1 ? 'resolved' : 'firing');
  });
}

test("a monitor's host name takes precedence over the host of its URL", () => {
  const monitor = { id: 1, name: 'Ping', url: 'https://', hostname: '192.0.2.9' };
  const { hostname, link } = readAlert(uptimeKuma, { ...sample, monitor });
  assert.deepEqual([hostname, link], ['192.0.2.9', undefined]);
});

test('a test notification has only its text', () => {
  const { source, level, message, hostname, fingerprint } = readAlert(uptimeKuma, {
    heartbeat: null,
    monitor: null,
    msg: 'My Testing',
  });
  assert.deepEqual([source, level, message, hostname], ['uptime-kuma', 'WARNING', 'My Testing', 'unknown']);
  assert.equal(fingerprint, undefined);
});
