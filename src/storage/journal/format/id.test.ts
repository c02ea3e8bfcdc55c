import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createId, readIdTime } from './id.ts';

test('ids are UUIDs of version 7 that hold their time, and no two are alike', () => {
  const ids = Array.from({ length: 1000 }, (_, index) => createId(1_700_000_000_000 + (index >> 2)));
  for (const [index, id] of ids.entries()) {
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.equal(readIdTime(id), 1_700_000_000_000 + (index >> 2));
  }
  assert.equal(new Set(ids).size, ids.length);
});

test('an id of another version has no time', () => {
  assert.equal(readIdTime('169c86d0-a4bb-44b9-b545-26e6ca24b670'), undefined);
});
