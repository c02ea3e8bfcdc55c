import assert from 'node:assert/strict';
import { test } from 'node:test';
import Type from 'typebox';
import { startServer } from '../../../test/support/server.ts';

const schema = { body: Type.Object({}, { additionalProperties: true }) };

test('a body is JSON in UTF-8 whatever it is labelled as, with or without a byte order mark', async (t) => {
  const { request } = startServer(t, { schema });
  for (const text of ['{"a":"\u00e9"}', '\ufeff{"a":"\u00e9"}', ' {"a" : "\\u00e9"}\n']) {
    assert.deepEqual(await request(text), { status: 200, json: { query: {}, body: { a: '\u00e9' } } }, text);
  }
});

test('members that are null are absent, those within others are kept', async (t) => {
  const { request } = startServer(t, { schema });
  const { json } = await request('{"a":null,"b":{"c":null},"d":[null],"e":0,"f":"","g":false}');
  assert.deepEqual(json, { query: {}, body: { b: { c: null }, d: [null], e: 0, f: '', g: false } });
});

test('what is no object, no JSON or no UTF-8 is told as such', async (t) => {
  const { request } = startServer(t, { schema });
  const cases: [string | Buffer, string][] = [
    ...['null', '1', '"x"', 'true', '[]', '[{}]'].map((text): [string, string] => [
      text,
      'Request body must be a JSON object',
    ]),
    ...['{', '{"a":1,}', ' ', 'a=1', '\ufeff\ufeff{}', '{"__proto__":1}', '{"constructor":{"prototype":1}}'].map(
      (text): [string, string] => [text, 'Request body is not valid JSON'],
    ),
    [Buffer.from([0x22, 0xff, 0x22]), 'Request body is not valid UTF-8'],
    [Buffer.from('{}', 'utf16le'), 'Request body is not valid JSON'],
  ];
  for (const [body, error] of cases) {
    assert.deepEqual(await request(body), { status: 400, json: { error } }, String(body));
  }
});

test('an empty body, and one that the route has no use for, is none', async (t) => {
  const optional = startServer(t, {});
  for (const text of ['', '{', '{"a":1}']) {
    assert.deepEqual(await optional.request(text), { status: 200, json: { query: {} } }, text);
  }
  const needed = startServer(t, { schema });
  assert.deepEqual(await needed.request(''), { status: 400, json: { error: 'Request body is required' } });
});
