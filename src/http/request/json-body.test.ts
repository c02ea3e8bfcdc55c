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

test('a route that takes any JSON gets it as it is, and one that takes text gets the text', async (t) => {
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

test('a body of exactly 1 MiB is read, and one byte more is 413 and ends the connection', async (t) => {
  const { request } = startServer(t, { schema });
  const text = (length: number): string => `{"a":"${'x'.repeat(length - 8)}"}`;
  assert.equal((await request(text(2 ** 20))).status, 200);
  const { status, json } = await request(text(2 ** 20 + 1));
  assert.deepEqual([status, json], [413, { error: 'Request body is larger than 1 MiB' }]);
});
