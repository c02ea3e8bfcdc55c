import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Finding, type Goal, judge, toRatios } from './finding.ts';

const createFinding = (ours: number[], figures: number[] | undefined, ...goals: Goal[]): Finding => ({
  id: 'B1',
  work: 'something',
  unit: '/s',
  ours,
  ...(figures && { beside: { name: 'another', figures } }),
  goals,
});

test('a ratio divides our figure by the other one of the same round', () => {
  assert.deepEqual(toRatios(createFinding([10, 30], [20, 10])), [0.5, 3]);
  assert.deepEqual(toRatios(createFinding([10, 30], undefined)), []);
});

test('a ratio goal is compared with the median of the ratios, not the ratio of the medians', () => {
  const finding = createFinding([10, 20, 30], [100, 10, 15], { of: 'ratio', atLeast: 2 });
  assert.equal(judge(finding), 'met');
  assert.equal(judge({ ...finding, goals: [{ of: 'ratio', atLeast: 2.01 }] }), 'short');
});

test('a finding meets its goals if it meets any one of them', () => {
  const goals: Goal[] = [
    { of: 'value', atMost: 400 },
    { of: 'ratio', atMost: 3 },
  ];
  assert.equal(judge(createFinding([500], [200], ...goals)), 'met');
  assert.equal(judge(createFinding([300], [1], ...goals)), 'met');
  assert.equal(judge(createFinding([500], [100], ...goals)), 'short');
});

test('a finding that is not a number misses its goal, and one without goals has no verdict', () => {
  assert.equal(judge(createFinding([Number.NaN], undefined, { of: 'value', atMost: 1 })), 'short');
  assert.equal(judge(createFinding([], [], { of: 'ratio', atLeast: 1 })), 'short');
  assert.equal(judge(createFinding([1], [1])), 'no goal');
});
