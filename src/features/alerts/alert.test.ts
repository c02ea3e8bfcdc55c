import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAlert, isEmpty } from './alert.ts';
import { toAlert } from './shown-alert.ts';

test('an alert is empty if no field has text', () => {
  assert.equal(isEmpty({}), true);
  assert.equal(isEmpty({ source: '', level: '', message: '', hostname: '' }), true);
  for (const field of ['source', 'level', 'message', 'hostname']) {
    assert.equal(isEmpty({ [field]: ' ' }), false);
  }
});

test('missing fields of an alert become empty texts, and its time is local', () => {
  const { time, ...alert } = createAlert(
    { level: 'ERROR' },
    { now: new Date(2026, 0, 2, 3, 4, 5, 6), sender: 'user:a' },
  );
  assert.match(time, /^2026-01-02T03:04:05\.006[+-]\d\d:\d\d$/);
  assert.deepEqual(Object.entries(alert), [
    ['timestamp', '2026-01-02T03:04:05'],
    ['source', ''],
    ['level', 'ERROR'],
    ['message', ''],
    ['hostname', ''],
    ['receivedAt', '03:04:05'],
    ['sender', 'user:a'],
  ]);
});

test('a listed alert has exactly six fields, all texts', () => {
  assert.deepEqual(toAlert({ id: 'x', seq: 1, crc: 'y', level: 7, source: 'disk', more: {} }), {
    timestamp: '',
    source: 'disk',
    level: '',
    message: '',
    hostname: '',
    receivedAt: '',
  });
});
