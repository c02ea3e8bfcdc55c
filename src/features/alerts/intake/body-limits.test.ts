import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as zlib from 'node:zlib';
import { samples } from '../../../../test/support/alert-samples.ts';
import { listMessages } from '../../../../test/support/alerts.ts';
import { startApp, type TestApp } from '../../../../test/support/app.ts';
import { knownCodings } from '../../../http/content-coding.ts';

const mebibyte = 1024 * 1024;

/** Creates an Alertmanager body with `count` ordinary alerts. */
const createOutage = (count: number, details = 500) => ({
  version: '4',
  receiver: 'signalbox',
  status: 'firing',
  alerts: Array.from({ length: count }, (_, index) => ({
    status: 'firing',
    labels: { alertname: 'HostDown', severity: 'critical', instance: `web-${index}:9100`, job: 'node' },
    annotations: { summary: `web-${index} does not answer`, description: 'No scrape. '.repeat(details / 11) },
    startsAt: '2026-01-31T09:30:00.123456789Z',
    endsAt: '0001-01-01T00:00:00Z',
    generatorURL: 'http://prometheus.example:9090/graph?g0.expr=up+%3D%3D+0&g0.tab=1',
    fingerprint: index.toString(16).padStart(16, '0'),
  })),
});

const post = (app: TestApp, path: string, body: unknown, headers: Record<string, string> = {}) =>
  app.request<{ ids?: string[]; error?: string }>('POST', path, { body, headers });

test('all 1,000 alerts of an outage are stored, also with long texts', async (t) => {
  const app = await startApp(t);
  for (const [details, least] of [
    [500, 0.8],
    [3900, 4],
  ] as const) {
    const body = JSON.stringify({ ...createOutage(1000, details), receiver: `of ${details}` });
    assert.ok(body.length > least * mebibyte && body.length < 8 * mebibyte, `${body.length} bytes`);
    const { status, json } = await post(app, '/api/alert/alertmanager', body);
    assert.deepEqual([status, json.ids?.length], [200, 1000], json.error);
  }
});

test('every intake path for several alerts accepts 8 MiB, and a larger body gets 413', async (t) => {
  const intake = [{ name: 'builds', message: '{/text}' }];
  const app = await startApp(t, { settings: { intake } });
  const fill = (body: object, size: number): string => {
    const text = JSON.stringify(body);
    return text + ' '.repeat(size - text.length);
  };
  for (const [path, body] of [
    ['/api/alert/alertmanager', samples.alertmanager],
    ['/api/v2/alerts', samples.prometheus],
    ['/api/alert/auto', samples.otlp],
    ['/api/alert/builds', { text: 'a' }],
  ] as const) {
    assert.equal((await post(app, path, fill(body, 8 * mebibyte))).status, 200, path);
    const { status, json } = await post(app, path, fill(body, 8 * mebibyte + 1));
    assert.deepEqual([status, json], [413, { error: 'Request body is larger than 8 MiB' }], path);
  }
  const { status } = await post(app, '/api/alert', fill({ message: 'a' }, mebibyte + 1));
  assert.equal(status, 413, 'the limit of one alert is 1 MiB');
});

test('a small body of very many values gets 413, because it would take a hundred times its size', async (t) => {
  const app = await startApp(t);
  const { status, json } = await post(app, '/api/alert/prometheus', `[${'{},'.repeat(2_500_000)}{}]`);
  assert.deepEqual([status, json], [413, { error: 'Request body has more than 1000000 values' }]);
  const text = `${'[{,'.repeat(700_000)}\\"\\\\`;
  assert.equal((await post(app, '/api/alert/slack', JSON.stringify({ text }))).status, 200, 'a text is one value');
});

const pack: Record<string, (bytes: Buffer) => Buffer> = {
  gzip: (bytes) => zlib.gzipSync(bytes),
  deflate: (bytes) => zlib.deflateSync(bytes),
  zstd: (bytes) => (zlib as unknown as { zstdCompressSync(bytes: Buffer): Buffer }).zstdCompressSync(bytes),
};

const send = (app: TestApp, coding: string, bytes: Buffer, path = '/api/alert/slack') =>
  post(app, path, bytes, { 'content-encoding': coding });

const toBytes = (body: unknown): Buffer => Buffer.from(JSON.stringify(body));

test('every intake path decompresses bodies of every coding', async (t) => {
  const intake = [{ name: 'builds', message: '{/text}' }];
  const app = await startApp(t, { settings: { intake } });
  const sent: string[] = [];
  for (const coding of knownCodings.split(', ')) {
    for (const [path, toBody] of [
      ['/api/alert/slack', (text) => ({ text })],
      ['/api/alert/auto', (text) => ({ text })],
      ['/api/alert/builds', (text) => ({ text })],
      ['/api/alert', (message) => ({ message })],
      ['/api/v2/alerts', (summary) => [{ labels: { summary }, annotations: { summary } }]],
    ] as [string, (text: string) => unknown][]) {
      const text = `${coding} at ${path}`;
      const { status, json } = await send(app, coding, pack[coding]?.(toBytes(toBody(text))) as Buffer, path);
      assert.equal(status, 200, `${text}: ${json.error}`);
      sent.push(text);
    }
  }
  for (const [coding, bytes] of [
    ['GZIP', zlib.gzipSync(toBytes({ text: 'upper case' }))],
    ['x-gzip', zlib.gzipSync(toBytes({ text: 'former name' }))],
    ['identity, gzip', zlib.gzipSync(toBytes({ text: 'identity as well' }))],
    ['deflate', zlib.deflateRawSync(toBytes({ text: 'deflate without its header' }))],
    ['identity', toBytes({ text: 'identity' })],
  ] as const) {
    assert.equal((await send(app, coding, bytes)).status, 200, coding);
  }
  const others = ['upper case', 'former name', 'identity as well', 'deflate without its header', 'identity'];
  assert.deepEqual(await listMessages(app, '?count=100'), [...sent, ...others]);
});

test('an unknown coding gets 415 with the known codings, damaged data 400, and nothing is stored', async (t) => {
  const app = await startApp(t);
  for (const coding of ['br', 'compress', 'gzip, gzip', 'constructor']) {
    const { status, headers } = await send(app, coding, toBytes({ text: 'a' }));
    assert.deepEqual([status, headers['accept-encoding']], [415, knownCodings], coding);
  }
  for (const coding of knownCodings.split(', ')) {
    const whole = pack[coding]?.(toBytes({ text: 'a'.repeat(1000) })) as Buffer;
    for (const [name, bytes] of [
      ['plain', toBytes({ text: 'a' })],
      ['cut', whole.subarray(0, -5)],
    ] as const) {
      const { status, json } = await send(app, coding, bytes);
      assert.deepEqual([status, json], [400, { error: `Request body is not valid ${coding}` }], `${coding} ${name}`);
    }
  }
  const empty = await send(app, 'gzip', Buffer.alloc(0));
  assert.deepEqual([empty.status, empty.json], [400, { error: 'Request body is required' }]);
  assert.deepEqual(await listMessages(app), []);
});

/** Creates concatenated compressed pieces that decompress to 1 GiB. */
const createBomb = (coding: string): Buffer => {
  const piece = pack[coding]?.(Buffer.alloc(mebibyte, ' ')) as Buffer;
  return Buffer.concat(Array.from({ length: 1024 }, () => piece));
};

const measurePeak = async (run: () => Promise<unknown>): Promise<number> => {
  let peak = 0;
  const before = process.memoryUsage();
  const timer = setInterval(() => {
    const { external, arrayBuffers } = process.memoryUsage();
    peak = Math.max(peak, external - before.external, arrayBuffers - before.arrayBuffers);
  }, 5);
  await run().finally(() => clearInterval(timer));
  return peak;
};

test('a decompression bomb is read only up to the limit of its path, and other requests are served meanwhile', async (t) => {
  const app = await startApp(t);
  const codings = knownCodings.split(', ').filter((coding) => coding !== 'deflate');
  for (const coding of codings) {
    const bomb = createBomb(coding);
    const peak = await measurePeak(async () => {
      const bombs = Array.from({ length: 4 }, (_, index) =>
        send(app, coding, bomb, index % 2 ? '/api/alert' : '/api/alert/slack'),
      );
      assert.equal((await send(app, coding, pack[coding]?.(toBytes({ text: coding })) as Buffer)).status, 200);
      for (const [index, { status, json }] of (await Promise.all(bombs)).entries()) {
        assert.deepEqual([status, json.error], [413, `Request body is larger than ${index % 2 ? 1 : 8} MiB`]);
      }
    });
    assert.ok(peak < 96 * mebibyte, `${coding}: ${Math.round(peak / mebibyte)} MiB`);
  }
  assert.deepEqual(await listMessages(app), codings);
});

test('routes that do not accept alerts do not decompress bodies', async (t) => {
  const app = await startApp(t);
  const { status } = await send(app, 'gzip', zlib.gzipSync(toBytes({ Title: 'x' })), '/api/tasks');
  assert.equal(status, 400);
});
