import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maxBytes, toBoundedResult } from './bounds.ts';

test('a result within the bounds is whole', () => {
  const result = toBoundedResult({ rows: [{ A: 1 }, { B: null }], truncated: false });
  assert.deepEqual(result, { rows: ['{"A":1}', '{"B":null}'], truncated: false });
});

test('what a runner left out already stays said', () => {
  assert.deepEqual(toBoundedResult({ rows: [], truncated: true }), { rows: [], truncated: true });
});

test('more than 5,000 objects are cut', () => {
  const rows = Array.from({ length: 5001 }, (_, Id) => ({ Id }));
  const result = toBoundedResult({ rows, truncated: false });
  assert.deepEqual([result.rows.length, result.truncated], [5000, true]);
  assert.equal(toBoundedResult({ rows: rows.slice(1), truncated: false }).truncated, false);
});

test('more than 8 MiB, counted in bytes of UTF-8, are cut', () => {
  const row = { Message: 'é'.repeat(512 * 1024) };
  const result = toBoundedResult({ rows: Array(9).fill(row), truncated: false });
  assert.deepEqual([result.rows.length, result.truncated], [7, true]);
  assert.ok(Buffer.byteLength(result.rows.join(',')) <= maxBytes);
});
