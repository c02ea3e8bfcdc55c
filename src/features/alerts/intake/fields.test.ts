import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findFirstSeverity, toAlertLabels, toHostname } from './fields.ts';

for (const [level, names] of Object.entries({
  CRITICAL: ['critical', 'crit', 'page', 'Emergency', 'emerg', 'FATAL', 'p1'],
  ERROR: ['error', 'err', 'major', 'high', 'P2'],
  WARNING: ['warn', 'warning', 'minor', 'p3'],
  INFO: ['info', 'notice', 'debug', 'none', 'low', ' Info '],
})) {
  test(`${names.join(', ')} are ${level}`, () => {
    for (const name of names) assert.equal(findFirstSeverity(name), level, name);
  });
}

test('the first value that names a severity counts', () => {
  assert.equal(findFirstSeverity(undefined, 7, 'purple', 'high', 'low'), 'ERROR');
  assert.equal(findFirstSeverity('purple'), undefined);
});

for (const [text, host] of [
  ['web-1', 'web-1'],
  ['web-1:9100', 'web-1'],
  ['[2001:db8::7]:9100', '2001:db8::7'],
  ['[::1]', '::1'],
  ['::1', '::1'],
  ['192.0.2.7:80', '192.0.2.7'],
  ['https://user:pass@shop.example:8443/a?b', 'shop.example'],
  ['http://[::1]:9090/', '::1'],
  ['https://', 'unknown'],
  [':9090', 'unknown'],
  ['', 'unknown'],
] as const) {
  test(`the host in "${text}" is ${host}`, () => assert.equal(toHostname(text), host));
}

test('the first value with a host counts', () => {
  assert.equal(toHostname(undefined, '', 7, 'a:1', 'b'), 'a');
});

test('labels are converted to texts, and limited in number and length', () => {
  assert.deepEqual(toAlertLabels({ a: 'x', b: 1, c: true, d: null, e: {}, f: [1] }), { a: 'x', b: '1', c: 'true' });
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`n${index}`, 'x'.repeat(5000)]));
  const labels = Object.entries(toAlertLabels(many));
  assert.ok(labels.length < 64);
  for (const [, value] of labels) assert.equal(value.length, 1024);
});
