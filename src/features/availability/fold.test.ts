import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkStates } from '../../kit/availability.ts';
import { createId, type LogRecord } from '../../storage/journal/line.ts';
import { AvailabilityFold } from './fold.ts';

test('an imported history continues with the state that a running server observes', () => {
  const fold = new AvailabilityFold();
  let seq = 0;
  const add = (record: LogRecord) => {
    seq += 1;
    return fold.fold({ ...record, id: createId(), seq });
  };
  const check = 'watch:site';
  const [down, unknown] = [checkStates.indexOf('down'), checkStates.indexOf('unknown')];
  const changes = [8 * 500 + down, 8 * 600 + unknown];
  const history = { check, createdAt: 0, deletedAt: null, changes, merged: [], facts: [], firstDay: 0, rows: [] };
  add({ type: 'state', check, createdAt: 0, place: 'watch/a', state: 'up', at: 1_000_000 });
  add({ type: 'imported', at: 2_000_000, history: { ...history, places: [], isMaintained: false } });
  const found = fold.find(check);
  assert.deepEqual(found?.save().changes, [...changes, 8 * 2000 + checkStates.indexOf('up')]);
  add({ type: 'gap', place: 'watch/a', from: 2_500_000, at: 3_000_000 });
  assert.equal(found?.timeline.state, 'unknown');
});
