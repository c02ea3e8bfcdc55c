import assert from 'node:assert/strict';
import { test } from 'node:test';
import { insertBetweenMarkers, type Line, median, quantile, toMarkdown } from './finding.ts';

const finding: Line = {
  id: 'B1',
  work: 'GET /',
  unit: '/s',
  ours: [900, 1000, 950, 970],
  name: 'bare',
  theirs: [1000, 1000, 1000, 1000],
  cpuRatios: [0.9, 0.9],
  bytes: [1234, 56],
  rounds: '4 × 1 s',
  goal: '≥ 0.95 ×',
};
const toRow = (changes: Partial<Line>): string =>
  toMarkdown([], [{ ...finding, ...changes }], [])
    .split('\n')
    .at(-2) ?? '';

test('the median of an even number of values is the mean of the two in the middle, and p99 is a value that occurred', () => {
  assert.deepEqual([median([4, 1, 3, 2]), median([3, 1, 2]), median([])], [2.5, 2, Number.NaN]);
  const values = Array.from({ length: 2000 }, (_, index) => index + 1);
  assert.deepEqual([quantile(values, 0.99), quantile(values, 1)], [1980, 2000]);
});

test('a benchmark row has medians, ratios, the bytes of both responses, rounds, and a verdict by rate and processor time', () => {
  assert.equal(
    toRow({}),
    '|B1|GET /|960/s|1,000/s bare|0.960 (0.900 to 1.000)|0.900|1,234 and 56|4 × 1 s|≥ 0.95 ×|**missed** by processor time|',
  );
  assert.match(toRow({ cpuRatios: [1] }), /\|met\|$/);
  assert.match(toRow({ ours: [1, 1, 1, 1] }), /\|\*\*missed\*\*\|$/);
  assert.match(toRow({ ours: [1, 1, 1, 1], cpuRatios: [1] }), /\|\*\*missed\*\* by rate\|$/);
  assert.match(toRow({ goal: undefined }), /\|4 × 1 s\|\|\|$/);
});

test('a row that meets one of several goals passes, and a figure that is not a number meets no goal', () => {
  const { cpuRatios: _none, ...without } = finding;
  const toText = (ours: number[], goal = '≤ 10 ms or ≤ 2 ×') => toMarkdown([], [{ ...without, ours, goal }], []);
  assert.match(toText([1500, 1500]), /\|met\|/);
  assert.match(toText([3000, 3000]), /missed\*\*\|/);
  assert.match(toText([9, 9]), /\|met\|/);
  assert.match(toText([Number.NaN]), /Goals missed, by rate or by processor time: 1 of 1 \(B1\)/);
  assert.throws(() => toText([1], 'fast'), /not a goal: fast/);
});

test('a report lists rows that were not measured, and replaces only the text between the markers', () => {
  const text = toMarkdown([], [], [{ id: 'B7', reason: 'glances is not installed' }]);
  assert.match(text, /Not measured:\n\n- B7: glances is not installed/);
  const document = 'a\n<!-- figures: begin -->\nold\n<!-- figures: end -->\nz\n';
  assert.equal(insertBetweenMarkers(document, 'new'), 'a\n<!-- figures: begin -->\n\nnew\n<!-- figures: end -->\nz\n');
  assert.throws(() => insertBetweenMarkers('nothing', 'new'), /markers/);
});
