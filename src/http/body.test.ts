import assert from 'node:assert/strict';
import { test } from 'node:test';
import Type from 'typebox';
import { startServer } from '../../test/support/server.ts';

const schema = { body: Type.Object({}, { additionalProperties: true }) };

test('a body is parsed as JSON in UTF-8 whatever its content type, with or without a byte order mark', async (t) => {
  const { request } = startServer(t, { schema });
  for (const text of ['{"a":"\u00e9"}', '\ufeff{"a":"\u00e9"}', ' {"a" : "\\u00e9"}\n']) {
    assert.deepEqual(await request(text), { status: 200, json: { query: {}, body: { a: '\u00e9' } } }, text);
  }
});

test('top-level members that are null are removed, and nested ones are kept', async (t) => {
  const { request } = startServer(t, { schema });
  const { json } = await request('{"a":null,"b":{"c":null},"d":[null],"e":0,"f":"","g":false}');
  assert.deepEqual(json, { query: {}, body: { b: { c: null }, d: [null], e: 0, f: '', g: false } });
});

test('a body that is not UTF-8, not JSON or not an object is rejected with its own message', async (t) => {
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

test('an empty body, and a body of a route that takes none, count as absent', async (t) => {
  const optional = startServer(t, {});
  for (const text of ['', '{', '{"a":1}']) {
    assert.deepEqual(await optional.request(text), { status: 200, json: { query: {} } }, text);
  }
  const needed = startServer(t, { schema });
  assert.deepEqual(await needed.request(''), { status: 400, json: { error: 'Request body is required' } });
});

test('a route that takes any JSON receives it unchanged, and a route that takes text receives the text', async (t) => {
  const json = startServer(t, { schema: { body: {} }, config: { body: 'json' } as object });
  for (const text of ['[1,{"a":null}]', '"x"', '7', 'false', '{"a":null}']) {
    assert.deepEqual(await json.request(text), { status: 200, json: { query: {}, body: JSON.parse(text) } }, text);
  }
  assert.deepEqual(await json.request('{'), { status: 400, json: { error: 'Request body is not valid JSON' } });
  const plain = startServer(t, { schema: { body: { type: 'string' } }, config: { body: 'text' } as object });
  assert.deepEqual(await plain.request('a é\n{'), { status: 200, json: { query: {}, body: 'a é\n{' } });
  const invalid = await plain.request(Buffer.from([0xff]));
  assert.deepEqual(invalid, { status: 400, json: { error: 'Request body is not valid UTF-8' } });
});
