import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { lineEndBytes, parseKnownLine, parseLine, toLine, toLineStart } from './line.ts';

const line = toLine(toLineStart({ message: 'höhe', level: 'ERROR' }, 'an-id'), 7);
const bytes = Buffer.from(line).subarray(0, -1);

test('a line is JSON with the record first, then id, seq and crc', () => {
  const record = JSON.parse(line);
  assert.deepEqual(Object.keys(record), ['message', 'level', 'id', 'seq', 'crc']);
  assert.match(record.crc, /^[0-9a-f]{8}$/);
  assert.ok(line.endsWith('}\n'));
});

test('a record without fields has its id alone', () => {
  assert.equal(toLineStart({}, 'an-id'), '{"id":"an-id"');
});

test('behind the start of a line comes as much as is said at most, whatever the seq', () => {
  const start = toLineStart({ message: 'höhe' }, 'an-id');
  assert.equal(toLine(start, Number.MAX_SAFE_INTEGER).length, start.length + lineEndBytes);
});

test('any record comes back from its line', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' })), (fields) => {
      const record = { ...fields, n: 1 };
      const text = toLine(toLineStart(record, 'an-id'), 3).slice(0, -1);
      assert.ok(!text.includes('\n'));
      const { crc: _, ...parsed } = parseKnownLine(Buffer.from(text));
      assert.deepEqual(parseLine(Buffer.from(text)), parseKnownLine(Buffer.from(text)));
      assert.equal(JSON.stringify(parsed), JSON.stringify({ ...record, id: 'an-id', seq: 3 }));
    }),
  );
});

test('a line with any byte changed is damaged', () => {
  for (const [index, byte] of bytes.entries()) {
    for (let value = 0; value < 256; value += 1) {
      const changed = Buffer.from(bytes);
      changed[index] = value;
      assert.equal(parseLine(changed) === 'damaged', value !== byte, `byte ${index} as ${value}`);
    }
  }
});

test('a line that lacks its end or its beginning is damaged', () => {
  for (let length = 1; length < bytes.length; length += 1) {
    assert.equal(parseLine(bytes.subarray(0, length)), 'damaged');
    assert.equal(parseLine(bytes.subarray(length)), 'damaged');
  }
});

test('a byte order mark and a carriage return around a line do no harm', () => {
  const dressed = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes, Buffer.from('\r')]);
  assert.deepEqual(parseLine(dressed), JSON.parse(line));
});

test('a line without seq and crc is a record if it is a JSON object in UTF-8', () => {
  assert.deepEqual(parseLine(Buffer.from('{"level":"INFO"}')), { level: 'INFO' });
  for (const text of ['{"level":', '[1]', 'null', '"text"', '12', '\0\0\0', '{"a":1}{"b":2}']) {
    assert.equal(parseLine(Buffer.from(text)), 'damaged', text);
  }
  assert.equal(parseLine(Buffer.from('{"level":"\xff"}', 'latin1')), 'damaged');
});

test('a line of nothing but white space is blank', () => {
  for (const text of ['', '\r', '  \t ', '\ufeff']) {
    assert.equal(parseLine(Buffer.from(text)), 'blank');
  }
});
