import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MiB } from '../../lib/units.ts';
import { toBracketedReason } from './errors.ts';
import type { JournalEvent } from './options.ts';
import { withDefaults } from './options.ts';

test('options have defaults: large segments that are kept for ever, and everything synced', () => {
  const { report, onSync, onIndexed, indexing, toJson, ...settings } = withDefaults({ directory: 'a', name: 'b' });
  assert.deepEqual(settings, {
    directory: 'a',
    name: 'b',
    segmentBytes: 64 * MiB,
    retainSegments: 0,
    retainBytes: 0,
    retainDays: 0,
    queueCount: 10_000,
    queueBytes: 32 * MiB,
    maxLineBytes: 2 * MiB,
    minFreeBytes: MiB,
    sync: true,
    awaitsHold: false,
    expects: 'any',
    recentCount: 0,
    retryMs: 1000,
  });
  report({ type: 'recovered' });
  onSync(1);
  onIndexed(1, 2);
  assert.deepEqual([indexing.timeOf({}), indexing.keyOf({}), indexing.keys], [undefined, undefined, []]);
  assert.equal(toJson({ a: 1 }), '{"a":1}');
  assert.deepEqual(withDefaults({ directory: 'a', name: 'b', sync: false, retryMs: 1 }).retryMs, 1);
});

test('report receives every event, and an error in it stops nothing', () => {
  const events: JournalEvent[] = [];
  const { report } = withDefaults({
    directory: 'a',
    name: 'b',
    report: (event) => {
      events.push(event);
      throw new Error('no');
    },
  });
  report({ type: 'reopened' });
  assert.deepEqual(events, [{ type: 'reopened' }]);
});

test('clients receive only reasons that an operator can act on', () => {
  const withCode = (code: string) => Object.assign(new Error('secret'), { code });
  assert.equal(toBracketedReason(withCode('low-space')), ' (not enough space is free on the disk)');
  assert.equal(toBracketedReason(withCode('ENOSPC')), ' (the disk is full)');
  assert.equal(toBracketedReason(withCode('EDQUOT')), ' (the disk quota is used up)');
  assert.equal(toBracketedReason(withCode('EFBIG')), ' (the file has reached its maximum size)');
  assert.equal(toBracketedReason(withCode('EIO')), ' (the disk reports an error)');
  assert.equal(toBracketedReason(withCode('EROFS')), ' (the file system is read-only)');
  assert.equal(toBracketedReason(withCode('EBADF')), '');
  assert.equal(toBracketedReason(new Error('secret')), '');
});
