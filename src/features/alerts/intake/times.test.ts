import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toRfc3339 } from './times.ts';

test('times are converted to UTC; the year 1 and other values have no time', () => {
  assert.equal(toRfc3339('2026-01-31T09:30:00+01:00'), '2026-01-31T08:30:00.000Z');
  assert.equal(toRfc3339('2026-01-31T09:30:00.000+0000'), '2026-01-31T09:30:00.000Z');
  assert.equal(toRfc3339('2026-01-31 09:30:00.5'), '2026-01-31T09:30:00.500Z');
  assert.equal(toRfc3339('2028-02-29T09:30:00Z'), '2028-02-29T09:30:00.000Z');
  assert.equal(toRfc3339('2026-02-29T09:30:00Z'), undefined);
  for (const text of ['0001-01-01T00:00:00Z', '2026-02-31T25:00:00Z', 'now', '', 7, undefined]) {
    assert.equal(toRfc3339(text), undefined, String(text));
  }
});
