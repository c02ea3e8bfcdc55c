import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WatchSettings } from './schema.ts';
import { findConfigProblems } from './watch-problems.ts';

const createWatches = (count: number, more: Partial<WatchSettings>): WatchSettings[] =>
  Array.from({ length: count }, (_, index) => ({
    name: `disk-${index}`,
    type: 'disk',
    limit: 0.9,
    mounts: Array.from({ length: 100 }, () => `/${'x'.repeat(900)}`),
    ...more,
  }));

test('more than 7 MiB of watches for hosts in the config file are refused, and as many watches for this server are not', () => {
  assert.deepEqual(findConfigProblems(createWatches(90, { hosts: ['web-*'] })), [
    'watches: all watches that set hosts or from must not exceed 7 MiB in total: shorten or remove watches',
  ]);
  assert.deepEqual(findConfigProblems(createWatches(90, {})), []);
  assert.deepEqual(findConfigProblems(createWatches(70, { hosts: ['web-*'] })), []);
});
