import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../test/support/random.ts';
import { classifyLine, createMatcher, parseRecord, toLineStart, toMark, toRecordLine } from './line.ts';

const line = toRecordLine(toLineStart({ message: 'höhe', level: 'ERROR' }, 'an-id'), 7);
const bytes = Buffer.from(line).subarray(0, -1);

test('any record can be parsed back from its line', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' })), (fields) => {
      const record = { ...fields, n: 1 };
      const text = toRecordLine(toLineStart(record, 'an-id'), 3).slice(0, -1);
      assert.ok(!text.includes('\n'));
      assert.equal(classifyLine(Buffer.from(text)), 'own');
      const { crc: _, ...parsed } = parseRecord(Buffer.from(text));
      assert.equal(JSON.stringify(parsed), JSON.stringify({ ...record, id: 'an-id', seq: 3 }));
    }),
  );
});

test('a line with any byte changed is damaged', () => {
  for (const [index, byte] of bytes.entries()) {
    for (let value = 0; value < 256; value += 1) {
      const changed = Buffer.from(bytes);
      changed[index] = value;
      assert.equal(classifyLine(changed) === 'damaged', value !== byte, `byte ${index} as ${value}`);
    }
  }
});

test('a line that lacks its beginning or end is damaged', () => {
  for (let length = 1; length < bytes.length; length += 1) {
    assert.equal(classifyLine(bytes.subarray(0, length)), 'damaged');
    assert.equal(classifyLine(bytes.subarray(length)), 'damaged');
  }
});

test('a line that is too long is damaged', () => {
  assert.equal(classifyLine(undefined), 'damaged');
});

test('a byte order mark and a carriage return around a line are ignored', () => {
  const dressed = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes, Buffer.from('\r')]);
  assert.equal(classifyLine(dressed), 'own');
  assert.deepEqual(parseRecord(dressed), JSON.parse(line));
});

test('a line without seq and crc is foreign if it is a JSON object in UTF-8', () => {
  assert.equal(classifyLine(Buffer.from('{"level":"INFO"}')), 'foreign');
  assert.deepEqual(parseRecord(Buffer.from('{"level":"INFO"}')), { level: 'INFO' });
  for (const text of ['{"level":', '[1]', 'null', '"text"', '12', '\0\0\0', '{"a":1}{"b":2}', '{"seq":1}']) {
    assert.equal(classifyLine(Buffer.from(text)), 'damaged', text);
  }
  assert.equal(classifyLine(Buffer.from('{"level":"\xff"}', 'latin1')), 'damaged');
});

test('a line of only white space is blank', () => {
  for (const text of ['', '\r', '  \t ', '\ufeff']) {
    assert.equal(classifyLine(Buffer.from(text)), 'blank');
  }
});

test('a mark is not a record, and has a seq', () => {
  const mark = Buffer.from(toMark(12)).subarray(0, -1);
  assert.equal(classifyLine(mark), 'mark');
  assert.equal(parseRecord(mark)['seq'], 12);
});

test('a record matches by the exact text of its own field', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (level, value) => {
      const record = { message: `"level":${JSON.stringify(value)}`, level, inner: { level: value } };
      const own = Buffer.from(toRecordLine(toLineStart(record, 'an-id'), 3));
      const foreign = Buffer.from(JSON.stringify(record, undefined, '  '));
      assert.equal(createMatcher({ field: 'level', value })('own', own), level === value);
      assert.equal(createMatcher({ field: 'level', value: level })('own', own), true);
      assert.equal(createMatcher({ field: 'level', value: level })('foreign', foreign), true);
      assert.equal(createMatcher({ field: 'level', value })('foreign', foreign), level === value);
    }),
  );
});

test('a field that is missing or not a string matches nothing', () => {
  const matches = createMatcher({ field: 'level', value: '7' });
  assert.equal(matches('foreign', Buffer.from('{"level":7}')), false);
  assert.equal(matches('foreign', Buffer.from('{}')), false);
});
