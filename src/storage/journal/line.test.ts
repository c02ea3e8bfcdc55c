import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createId, lineEndBytes, readIdTime, toLineStart, toMark, toRecordLine } from './line.ts';

const line = toRecordLine(toLineStart({ message: 'höhe', level: 'ERROR' }, 'an-id'), 7);

test('a line is JSON with the record first, then id, seq and crc', () => {
  const record = JSON.parse(line);
  assert.deepEqual(Object.keys(record), ['message', 'level', 'id', 'seq', 'crc']);
  assert.match(record.crc, /^[0-9a-f]{8}$/);
  assert.ok(line.endsWith('}\n'));
});

test('a record without fields is a line with only its id', () => {
  assert.equal(toLineStart({}, 'an-id'), '{"id":"an-id"');
});

test('a mark is a line with only seq and crc', () => {
  assert.deepEqual(Object.keys(JSON.parse(toMark(7))), ['seq', 'crc']);
  assert.ok(toMark(7).endsWith('}\n'));
});

test('the end of a line has at most lineEndBytes, whatever the seq', () => {
  const start = toLineStart({ message: 'höhe' }, 'an-id');
  assert.equal(toRecordLine(start, Number.MAX_SAFE_INTEGER).length, start.length + lineEndBytes);
});

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
