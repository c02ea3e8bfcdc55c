import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maxOutputBytes, toBoundedResult } from './runner.ts';

test('a result within the limits is complete', () => {
  const result = toBoundedResult({ rows: [{ A: 1 }, { B: null }], truncated: false });
  assert.deepEqual(result, { rows: ['{"A":1}', '{"B":null}'], truncated: false });
});

test('a result truncated by the runner stays marked as truncated', () => {
  assert.deepEqual(toBoundedResult({ rows: [], truncated: true }), { rows: [], truncated: true });
});

test('a result is cut at 5,000 objects', () => {
  const rows = Array.from({ length: 5001 }, (_, Id) => ({ Id }));
  const result = toBoundedResult({ rows, truncated: false });
  assert.deepEqual([result.rows.length, result.truncated], [5000, true]);
  assert.equal(toBoundedResult({ rows: rows.slice(1), truncated: false }).truncated, false);
});

test('a result is cut at 8 MiB, counted in UTF-8 bytes', () => {
  const row = { Message: 'é'.repeat(512 * 1024) };
  const result = toBoundedResult({ rows: Array(9).fill(row), truncated: false });
  assert.deepEqual([result.rows.length, result.truncated], [7, true]);
  assert.ok(Buffer.byteLength(result.rows.join(',')) <= maxOutputBytes);
});
