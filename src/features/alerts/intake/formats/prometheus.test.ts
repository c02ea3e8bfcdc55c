import assert from 'node:assert/strict';
import { test } from 'node:test';
import { samples } from '../../../../../test/support/alert-samples.ts';
import { readAlert } from '../../../../../test/support/formats.ts';
import { prometheus } from './prometheus.ts';

const [sample] = samples.prometheus;

test('an alert is firing until endsAt, and resolved from then on', () => {
  const firing = readAlert(prometheus, [sample]);
  assert.equal(firing.status, 'firing');
  assert.equal(firing.source, 'prometheus/DiskFull');
  assert.equal(firing.message, 'The disk of db-1 is 90% full');
  assert.equal(firing.link, 'https://prometheus.example/graph?g0.expr=disk');
  assert.equal(readAlert(prometheus, [{ ...sample, endsAt: '2026-01-31T09:59:59Z' }]).status, 'resolved');
  assert.equal(readAlert(prometheus, [{ labels: {} }]).status, 'firing');
});

test('the fingerprint depends on the labels, but not on their order', () => {
  const read = (labels: object) => readAlert(prometheus, [{ labels }]).fingerprint;
  assert.equal(read({ a: '1', b: '2' }), read({ b: '2', a: '1' }));
  assert.notEqual(read({ a: '1', b: '2' }), read({ a: '12', b: '' }));
});
