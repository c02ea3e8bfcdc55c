import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';
import { listMessages, readRecords } from '../../../../test/support/alerts.ts';
import { startApp, type TestApp } from '../../../../test/support/app.ts';

/** Encodes a message with one field, containing a message or text. */
const wrap = (field: number, content: Uint8Array | string): Uint8Array => {
  const writer = new BinaryWriter().tag(field, 2);
  return (typeof content === 'string' ? writer.string(content) : writer.bytes(content)).finish();
};

const join = (...parts: Uint8Array[]): Buffer => Buffer.concat(parts);

const severity = (number: number): Uint8Array => new BinaryWriter().tag(2, 0).int32(number).finish();

/** Encodes a request with log records. */
const toRequest = (...records: Uint8Array[]): Buffer =>
  Buffer.from(wrap(1, wrap(2, join(...records.map((record) => wrap(2, record))))));

const toRecord = (text: string, number = 17): Uint8Array => join(severity(number), wrap(5, wrap(1, text)));

/** Sends a request. Resolves to the response with its body as bytes. */
const post = async (app: TestApp, body: Buffer, path = '/v1/logs', headers: Record<string, string> = {}) => {
  const response = await fetch(app.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/x-protobuf', ...headers },
    body: new Uint8Array(body),
  });
  const bytes = new Uint8Array(await response.arrayBuffer());
  return { status: response.status, type: response.headers.get('content-type'), bytes, headers: response.headers };
};

/** Returns a message's strings by field number. */
const readTexts = (bytes: Uint8Array): Record<number, string> => {
  const reader = new BinaryReader(bytes);
  const found: Record<number, string> = {};
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (type === 2) found[field] = reader.string();
    else reader.skip(type, field);
  }
  return found;
};

const protobuf = 'application/x-protobuf';

test('a completely stored request and an empty request get an empty Protobuf message', async (t) => {
  const app = await startApp(t);
  for (const body of [toRequest(toRecord('a'), toRecord('b')), Buffer.alloc(0), toRequest()]) {
    const { status, type, bytes } = await post(app, body);
    assert.deepEqual([status, type, bytes.length], [200, protobuf, 0]);
  }
  assert.deepEqual(await listMessages(app), ['a', 'b']);
});

test('/v1/logs stores no records below WARN, and responds with their number', async (t) => {
  const app = await startApp(t);
  const records = [toRecord('debug', 5), toRecord('info', 9), toRecord('warning', 13), toRecord('none', 0)];
  const { status, bytes } = await post(app, toRequest(...records));
  assert.equal(status, 200);
  const outer = new BinaryReader(bytes);
  assert.deepEqual(outer.tag(), [1, 2]);
  const partial = new BinaryReader(outer.bytes());
  assert.deepEqual([partial.tag(), Number(partial.int64())], [[1, 0], 2]);
  assert.deepEqual(
    [partial.tag(), partial.string()],
    [[2, 2], 'Records below WARN are not stored: see /api/alert/otlp'],
  );
  assert.deepEqual(await listMessages(app), ['warning', 'none']);
  const logRecords = [{ severityNumber: 9 }, { severityNumber: 17, body: { stringValue: 'as JSON' } }];
  const { json } = await app.request('POST', '/v1/logs', { body: { resourceLogs: [{ scopeLogs: [{ logRecords }] }] } });
  const errorMessage = 'Records below WARN are not stored: see /api/alert/otlp';
  assert.deepEqual(json, { partialSuccess: { rejectedLogRecords: '1', errorMessage } });
  const many = Array.from({ length: 1001 }, () => toRecord('info', 9));
  assert.equal((await post(app, toRequest(...many))).status, 200, 'records below WARN do not count towards the limit');
});

test('every error of a Protobuf request is a Status in Protobuf', async (t) => {
  const app = await startApp(t, { settings: { alertsAuth: 'bearer' } });
  const authorization = `Bearer ${await app.login('reader')}`;
  const deep = (depth: number): Uint8Array => {
    let value = wrap(1, 'x');
    for (let index = 0; index < depth; index += 1) value = wrap(5, wrap(1, value));
    return wrap(5, value);
  };
  const many = toRequest(...Array.from({ length: 1001 }, () => toRecord('a')));
  const cases: [string, Buffer, Record<string, string>, number, RegExp][] = [
    ['no token', toRequest(toRecord('a')), { authorization: '' }, 401, /Missing token/],
    ['text', Buffer.from('{"resourceLogs":[]}'), {}, 400, /not valid Protobuf/],
    ['cut', toRequest(toRecord('a')).subarray(0, -1), {}, 400, /not valid Protobuf/],
    ['another type', Buffer.from(new BinaryWriter().tag(1, 0).int32(1).finish()), {}, 400, /not valid Protobuf/],
    ['deep', toRequest(deep(40)), {}, 400, /nested deeper/],
    ['many values', Buffer.alloc(2_000_002, Buffer.from([0x0a, 0])), {}, 413, /more than 1000000 values/],
    ['many records', many, {}, 413, /at most 1000 alerts/],
    ['large', Buffer.alloc(8 * 2 ** 20 + 1), {}, 413, /larger than 8 MiB/],
    ['damaged gzip', toRequest(), { 'content-encoding': 'gzip' }, 400, /not valid gzip/],
    ['unknown coding', toRequest(), { 'content-encoding': 'br' }, 415, /Content-Encoding must be one of/],
  ];
  for (const [name, body, headers, expected, message] of cases) {
    const { status, type, bytes } = await post(app, body, '/v1/logs', { authorization, ...headers });
    assert.deepEqual([status, type], [expected, protobuf], name);
    const texts = readTexts(bytes);
    assert.deepEqual(Object.keys(texts), ['2'], name);
    assert.match(texts[2] ?? '', message, name);
  }
  const fits = await post(app, toRequest(deep(20)), '/api/alert/otlp', { authorization });
  assert.equal(fits.status, 200);
  assert.equal((await readRecords(app)).length, 1);
});

test('every path reads compressed Protobuf and skips unknown fields', async (t) => {
  const app = await startApp(t);
  const unknown = new BinaryWriter().tag(99, 2).string('x').tag(98, 0).int32(7).tag(97, 1).fixed64(7).finish();
  const body = join(toRequest(join(toRecord('gzipped'), unknown)), unknown);
  for (const path of ['/v1/logs', '/api/alert/otlp', '/api/alert/auto']) {
    assert.equal((await post(app, gzipSync(body), path, { 'content-encoding': 'gzip' })).status, 200, path);
  }
  assert.deepEqual(await listMessages(app), ['gzipped', 'gzipped', 'gzipped']);
});
