import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseResponse } from './response.ts';

const parse = (text: string, how = {}) => parseResponse(Buffer.from(text, 'latin1'), how);

const read = (text: string, how = {}) => {
  const { response, rest } = parse(text, how) ?? {};
  return [response?.status, String(response?.body), String(rest)];
};

test('a response ends as its length or last chunk says, and the remaining bytes are kept', () => {
  assert.deepEqual(read('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabHTTP'), [200, 'ab', 'HTTP']);
  const chunks = '2\r\nab\r\nA\r\n0123456789\r\n0\r\n\r\n';
  const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
  assert.deepEqual(read(`${head}${chunks}HTTP`), [200, 'ab0123456789', 'HTTP']);
  for (let length = 0; length < head.length + chunks.length; length += 1) {
    assert.equal(parse((head + chunks).slice(0, length)), undefined);
  }
});

test('a response to HEAD, a 204 and a 304 have no body', () => {
  assert.deepEqual(read('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n', { isHead: true }), [200, '', '']);
  assert.deepEqual(read('HTTP/1.1 204 No Content\r\n\r\nHTTP'), [204, '', 'HTTP']);
  assert.deepEqual(read('HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\n'), [304, '', '']);
});

test('a body without a length ends when the connection closes', () => {
  assert.equal(parse('HTTP/1.1 200 OK\r\n\r\nab'), undefined);
  assert.deepEqual(read('HTTP/1.1 200 OK\r\n\r\nab', { ended: true }), [200, 'ab', '']);
});

test('interim responses are skipped', () => {
  const text = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n';
  assert.deepEqual(read(text), [201, '', '']);
});

test('a response that violates HTTP/1.1 is rejected', () => {
  const ok = 'HTTP/1.1 200 OK\r\n';
  const chunked = `${ok}Transfer-Encoding: chunked\r\n\r\n`;
  for (const [text, message] of [
    ['HTTP/1.0 200 OK\r\n\r\n', /no status line/],
    ['HTTP/1.1 20 OK\r\n\r\n', /no status line/],
    ['HTTP/1.1 200\r\n\r\n', /no status line/],
    [`${ok}X : y\r\n\r\n`, /no header/],
    [`${ok} X: y\r\n\r\n`, /no header/],
    [`${ok}X: \0\r\n\r\n`, /no header/],
    [`${ok}X: y\r\nx: y\r\n\r\n`, /twice/],
    [`${ok}Content-Length: +1\r\n\r\n`, /no length/],
    [`${ok}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`, /given twice/],
    [`${ok}Transfer-Encoding: gzip\r\n\r\n`, /no transfer coding/],
    [`${chunked}0x1\r\na\r\n0\r\n\r\n`, /length of a chunk/],
    [`${chunked}1\r\nab\r\n0\r\n\r\n`, /does not end/],
  ] as const) {
    assert.throws(() => parse(text), message, JSON.stringify(text));
  }
});
