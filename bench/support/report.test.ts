import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Finding } from './finding.ts';
import { toMarkdown } from './report.ts';

const finding: Finding = {
  id: 'B1',
  work: 'GET /api/tasks/{id}',
  unit: '/s',
  ours: [52_000, 50_000, 51_000],
  beside: { name: 'node:http', figures: [60_000, 50_000, 54_000] },
  cpuRatios: [0.9, 0.91, 0.92],
  goals: [{ of: 'ratio', atLeast: 0.95 }],
};

const listCells = (row: string): string[] => row.split('|').map((cell) => cell.trim());

const listLines = (findings: Finding[]): string[] => toMarkdown({ findings, gaps: [], surroundings: [] }).split('\n');

test('a report row has the medians, the ratio with its range, the goal and the verdict', () => {
  const [head = '', rule = '', row = ''] = listLines([finding]);
  assert.equal(listCells(head).length, listCells(rule).length);
  const cells = ['B1', 'GET /api/tasks/{id}', '51,000/s', '54,000/s node:http', '0.944 (0.867 to 1.000)'];
  assert.deepEqual(listCells(row), ['', ...cells, '0.910', '≥ 0.95 ×', '**short**', '']);
});

test('a report row without a comparison has no ratio, and shows goals in its own unit', () => {
  const goals: Finding['goals'] = [
    { of: 'value', atMost: 400 },
    { of: 'ratio', atMost: 3 },
  ];
  const [, , row = ''] = listLines([{ id: 'B10', work: 'start', unit: ' ms', ours: [12.34], goals }]);
  assert.deepEqual(listCells(row).slice(3, 9), ['12.3 ms', '', '', '', '≤ 400 ms or ≤ 3 ×', 'met']);
});

test('a report lists what was not measured with the reason, and the machine it ran on', () => {
  const gaps = [{ id: 'B7', reason: 'glances is not installed' }];
  const text = toMarkdown({ findings: [], gaps, surroundings: ['Date: today'] });
  assert.match(text, /Not measured:\n\n- B7: glances is not installed\n\nHow it was measured:\n\n- Date: today\n/);
  assert.doesNotMatch(toMarkdown({ findings: [], gaps: [], surroundings: [] }), /Not measured/);
});
