import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fitConnections } from './descriptors.ts';
import { SettingsError } from './settings-error.ts';

test('connections that fit within the limit on open files are not reduced', () => {
  for (const limit of [1164, 100_000, Number.POSITIVE_INFINITY]) {
    assert.deepEqual(fitConnections(1000, limit), { maxConnections: 1000 });
  }
  assert.deepEqual(fitConnections(3, 167), { maxConnections: 3 });
});

test('connections are reduced to what fits, but not below ten', () => {
  for (const [limit, maxConnections] of [
    [1163, 999],
    [256, 92],
    [174, 10],
  ] as const) {
    const fit = fitConnections(1000, limit);
    assert.equal(fit.maxConnections, maxConnections);
    assert.match(fit.warning ?? '', new RegExp(`is ${maxConnections} instead of 1000, .* is ${limit}; raise`));
  }
  assert.throws(() => fitConnections(1000, 173), SettingsError);
  assert.throws(() => fitConnections(4, 167), SettingsError);
});
