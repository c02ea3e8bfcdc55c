import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lineEndBytes, toLine, toLineStart, toMark } from './line.ts';

const line = toLine(toLineStart({ message: 'höhe', level: 'ERROR' }, 'an-id'), 7);

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
  assert.equal(toLine(start, Number.MAX_SAFE_INTEGER).length, start.length + lineEndBytes);
});
