import assert from 'node:assert/strict';
import { test } from 'node:test';
import { samples } from '../../../../../test/support/alert-samples.ts';
import { readAlert } from '../../../../../test/support/formats.ts';
import { pagerduty } from './pagerduty.ts';

const sample = samples.pagerduty;

test('a triggered event has its summary, and its details as labels', () => {
  assert.deepEqual(readAlert(pagerduty, sample), {
    source: 'pagerduty/disk',
    level: 'CRITICAL',
    message: 'The disk of web-1 is full',
    details: undefined,
    links: undefined,
    hostname: 'web-1.example',
    status: 'firing',
    fingerprint: 'backup/web-1',
    state: 'trigger',
    startsAt: '2026-01-31T09:30:00.000Z',
    labels: { component: 'disk', group: 'storage', class: 'usage', used: '99%', free: '12' },
    link: 'https://backup.example/web-1',
  });
});

test('other events need no payload, and are about their key', () => {
  const read = (action: string) => readAlert(pagerduty, { event_action: action, dedup_key: 'backup/web-1' });
  const acknowledged = read('acknowledge');
  assert.deepEqual(
    [acknowledged.level, acknowledged.message, acknowledged.status],
    ['INFO', 'Acknowledged: backup/web-1', 'firing'],
  );
  const resolved = read('resolve');
  assert.deepEqual([resolved.message, resolved.status], ['backup/web-1', 'resolved']);
});

test('a trigger needs a payload, other events a key', () => {
  assert.throws(() => readAlert(pagerduty, { event_action: 'trigger' }), /^Error: payload is required/);
  assert.throws(() => readAlert(pagerduty, { event_action: 'resolve' }), /^Error: dedup_key is required/);
  assert.throws(() => readAlert(pagerduty, { event_action: 'close' }), /^Error: event_action must be one of trigger, /);
});

test('links are kept by their texts', () => {
  const links = [
    { href: 'https://wiki.example/disk', text: 'Runbook' },
    { href: 'https://g.example/d/1' },
    { href: 'not a URL', text: 'x' },
  ];
  const alert = readAlert(pagerduty, { ...sample, client_url: undefined, links });
  assert.deepEqual(alert.links, { Runbook: 'https://wiki.example/disk', 'link 2': 'https://g.example/d/1' });
  assert.equal(alert.link, 'https://wiki.example/disk');
});
