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

test('a ratio is that of one round, ours to the other', () => {
  assert.deepEqual(toRatios(createFinding([10, 30], [20, 10])), [0.5, 3]);
  assert.deepEqual(toRatios(createFinding([10, 30], undefined)), []);
});

test('a goal is about the median of the ratios, not the ratio of the medians', () => {
  const finding = createFinding([10, 20, 30], [100, 10, 15], { of: 'ratio', atLeast: 2 });
  assert.equal(judge(finding), 'met');
  assert.equal(judge({ ...finding, goals: [{ of: 'ratio', atLeast: 2.01 }] }), 'short');
});

test('one goal of several suffices', () => {
  const goals: Goal[] = [
    { of: 'value', atMost: 400 },
    { of: 'ratio', atMost: 3 },
  ];
  assert.equal(judge(createFinding([500], [200], ...goals)), 'met');
  assert.equal(judge(createFinding([300], [1], ...goals)), 'met');
  assert.equal(judge(createFinding([500], [100], ...goals)), 'short');
});

test('a figure that is no number reaches no goal, and without a goal nothing falls short', () => {
  assert.equal(judge(createFinding([Number.NaN], undefined, { of: 'value', atMost: 1 })), 'short');
  assert.equal(judge(createFinding([], [], { of: 'ratio', atLeast: 1 })), 'short');
  assert.equal(judge(createFinding([1], [1])), 'no goal');
});
