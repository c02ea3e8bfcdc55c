import assert from 'node:assert/strict';
import { test } from 'node:test';
import { samples } from '../../../../test/support/alert-samples.ts';
import { changeJournal, listMessages, readRecords } from '../../../../test/support/alerts.ts';
import { startApp } from '../../../../test/support/app.ts';
import { JournalError } from '../../../storage/journal/errors.ts';
import { formats } from './body.ts';

interface Receipt {
  received: boolean;
  ids: string[];
  repeated: number;
  error?: string;
}

const withoutIds = ({
  timestamp: _,
  receivedAt: _1,
  time: _2,
  id: _3,
  seq: _4,
  crc: _5,
  part: _6,
  key: _7,
  ...record
}: Record<string, unknown>) => record;

test('a stored line has the fields of a native alert, and the fields of its format', async (t) => {
  const app = await startApp(t);
  const { status, json } = await app.request<Receipt>('POST', '/api/alert/alertmanager', {
    body: samples.alertmanager,
  });
  assert.equal(status, 200);
  assert.deepEqual([json.received, json.repeated], [true, 0]);
  const [firing = {}, resolved = {}] = await readRecords(app);
  assert.deepEqual(json.ids, [firing['id'], resolved['id']]);
  assert.deepEqual(withoutIds(firing), {
    source: 'alertmanager/HostDown',
    level: 'CRITICAL',
    message: 'web-1 does not answer',
    hostname: 'web-1',
    sender: 'address:127.0.0.1',
    format: 'alertmanager',
    status: 'firing',
    fingerprint: 'd8e1c9a1f3b2a047',
    startsAt: '2026-01-31T09:30:00.123Z',
    endsAt: null,
    labels: samples.alertmanager.alerts[0]?.labels,
    link: 'http://prometheus.example:9090/graph?g0.expr=up+%3D%3D+0&g0.tab=1',
    details: 'No scrape for five minutes',
  });
  assert.equal(resolved['level'], 'INFO');
  assert.equal(resolved['message'], 'Resolved: No scrape for five minutes');
  assert.deepEqual(await listMessages(app), ['web-1 does not answer', 'Resolved: No scrape for five minutes']);
});

for (const { name } of formats) {
  test(`auto stores the sample of ${name} like the path of the format`, async (t) => {
    const body = samples[name as keyof typeof samples];
    const [direct, auto] = await Promise.all(
      [name, 'auto'].map(async (path) => {
        const app = await startApp(t);
        assert.ok([200, 202].includes((await app.request('POST', `/api/alert/${path}`, { body })).status));
        return (await readRecords(app)).map(withoutIds);
      }),
    );
    assert.ok(direct && direct.length > 0);
    assert.deepEqual(auto, direct);
  });
}

test('PagerDuty and OpenTelemetry get the responses that their libraries expect', async (t) => {
  const { request } = await startApp(t);
  const event = await request('POST', '/api/alert/pagerduty', { body: samples.pagerduty });
  assert.equal(event.status, 202);
  assert.deepEqual(event.json, { status: 'success', message: 'Event processed', dedup_key: 'backup/web-1' });
  const { dedup_key: _, ...withoutKey } = samples.pagerduty;
  const other = await request('POST', '/api/alert/pagerduty', { body: withoutKey });
  assert.match(String(other.json['dedup_key']), /^[0-9a-f]{32}$/);
  const logs = await request('POST', '/api/alert/otlp', { body: samples.otlp });
  assert.deepEqual([logs.status, logs.json], [200, { partialSuccess: {} }]);
});

test('/api/v2/alerts accepts alerts from Prometheus, also below a mount', async (t) => {
  const app = await startApp(t, { settings: { mounts: { '/box': ['alerts'] } } });
  const { status, json } = await app.request<Receipt>('POST', '/box/api/v2/alerts', { body: samples.prometheus });
  assert.deepEqual([status, json.ids.length], [200, 1]);
  assert.equal((await readRecords(app))[0]?.['format'], 'prometheus');
});

for (const [path, body, error] of [
  [
    'alertmanager',
    '{"alerts":[{"labels":{}},{"labels":{}},{"labels":{}},{"labels":[]}]}',
    'alerts[3].labels must be an object',
  ],
  ['alertmanager', '{"alerts":[{"labels":{"a":[1]}}]}', 'alerts[0].labels.a must be a string'],
  ['alertmanager', '{"alerts":[null]}', 'alerts[0] must be an object'],
  ['alertmanager', '{"alerts":null}', 'alerts is required'],
  ['grafana', '{"alerts":[{"labels":{},"status":"x"}]}', 'alerts[0].status must be one of firing, resolved'],
  ['prometheus', '{}', 'Request body must be an array'],
  ['prometheus', '[{}]', '[0].labels is required'],
  ['cloudevents', '[{"specversion":"1.0","id":"","source":"a","type":"b"}]', '[0].id must not be empty'],
  ['cloudevents', '{"specversion":"1.0","id":"1","source":"a"}', 'type is required'],
  ['uptime-kuma', 'null', 'Request body must be an object'],
  ['slack', '', 'Request body is required'],
  ['slack', '{', 'Request body is not valid JSON'],
  [
    'otlp',
    '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"attributes":[{}]}]}]}]}',
    'resourceLogs[0].scopeLogs[0].logRecords[0].attributes[0].key is required',
  ],
] as const) {
  test(`${body || 'an empty body'} for ${path} gets 400: ${error}`, async (t) => {
    const { request } = await startApp(t);
    const { status, json } = await request('POST', `/api/alert/${path}`, { body });
    assert.deepEqual([status, json], [400, { error }]);
  });
}

for (const [path, body, message] of [
  ['slack', { text: 404, username: 7, attachments: [{ color: 1 }] }, '404'],
  ['uptime-kuma', { msg: 404, monitor: { name: 7, hostname: 1 }, heartbeat: { time: 0 } }, '404'],
  ['grafana', { version: 1, title: 404, alerts: [{ labels: { a: 1 }, startsAt: 0, fingerprint: 9 }] }, '404'],
  ['alertmanager', { version: 4, receiver: 7, alerts: [{ labels: { alertname: 404 } }] }, '404'],
  ['prometheus', [{ labels: {}, annotations: { summary: 404 }, generatorURL: true }], '404'],
  ['cloudevents', { specversion: 1, id: 7, source: 'a', type: 404, time: 0 }, '404'],
] as const) {
  test(`numbers are converted to texts in ${JSON.stringify(body)} for ${path}`, async (t) => {
    const app = await startApp(t);
    const { status, json } = await app.request('POST', `/api/alert/${path}`, { body });
    assert.deepEqual([status, json['error']], [200, undefined]);
    assert.deepEqual(await listMessages(app), [message]);
  });
}

test('auto refuses a body of no format or of several formats, and names the formats', async (t) => {
  const { request } = await startApp(t);
  const none = await request<Receipt>('POST', '/api/alert/auto', { body: { message: 'native' } });
  assert.equal(none.status, 400);
  for (const { name } of formats) assert.ok(none.json.error?.includes(name), name);
  const several = await request<Receipt>('POST', '/api/alert/auto', { body: { text: 'a', resourceLogs: [] } });
  assert.deepEqual([several.status, several.json.error], [400, 'Request body matches several formats: slack, otlp']);
});

test('an unknown format gets 404, and another method 405', async (t) => {
  const { request } = await startApp(t);
  assert.equal((await request('POST', '/api/alert/nagios', { body: {} })).status, 404);
  assert.equal((await request('GET', '/api/alert/slack')).status, 405);
});

test('a form with a payload is read as a Slack message, and JSON with the content type of forms as JSON', async (t) => {
  const app = await startApp(t);
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  for (const [path, body, status] of [
    ['slack', `payload=${encodeURIComponent('{"text":"a+b & c"}')}`, 200],
    ['auto', 'token=x&payload={"text":"second"}', 200],
    ['slack', '{"text":"third&payload=x"}', 200],
    ['slack', 'text=a', 400],
    ['slack', 'payload=text', 400],
  ] as const) {
    assert.equal((await app.request('POST', `/api/alert/${path}`, { body, headers })).status, status, body);
  }
  assert.deepEqual(await listMessages(app), ['a+b & c', 'second', 'third&payload=x']);
});

test('no content type and the content types of JSON are accepted; others get 415', async (t) => {
  const { request } = await startApp(t);
  const send = (headers: Record<string, string>) =>
    request('POST', '/api/alert/slack', { body: { text: 'a' }, headers }).then(({ status }) => status);
  for (const type of ['application/json; charset=UTF-8', 'TEXT/JSON', 'application/vnd.x+json', 'text/plain']) {
    assert.equal(await send({ 'content-type': type }), 200, type);
  }
  assert.equal(await send({}), 200);
  for (const type of ['application/x-protobuf', 'multipart/form-data; boundary=a', 'application/xml', 'x']) {
    assert.equal(await send({ 'content-type': type }), 415, type);
  }
});

test('a body of more than 1000 alerts gets 413, and nothing is stored', async (t) => {
  const app = await startApp(t);
  const createBody = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ labels: { alertname: `a${index}` } }));
  assert.equal((await app.request('POST', '/api/alert/prometheus', { body: createBody(1001) })).status, 413);
  assert.deepEqual(await listMessages(app), []);
  const { status, json } = await app.request<Receipt>('POST', '/api/alert/prometheus', { body: createBody(1000) });
  assert.deepEqual([status, new Set(json.ids).size], [200, 1000]);
  assert.equal((await readRecords(app)).length, 1000);
  const records = `{"resourceLogs":[{"scopeLogs":[{"logRecords":[${'{},'.repeat(300_000)}{}]}]}]}`;
  assert.equal((await app.request('POST', '/api/alert/otlp', { body: records })).status, 413);
});

test('attributes that many log records share are limited', async (t) => {
  const app = await startApp(t);
  const attributes = Array.from({ length: 60 }, (_, index) => ({
    key: `k${index}`,
    value: { stringValue: 'x'.repeat(2000) },
  }));
  const logRecords = Array.from({ length: 1000 }, () => ({}));
  const body = { resourceLogs: [{ resource: { attributes }, scopeLogs: [{ logRecords }] }] };
  assert.equal((await app.request('POST', '/api/alert/otlp', { body })).status, 413);
  assert.deepEqual(await listMessages(app), []);
});

test('long texts are cut, with an ellipsis at the end', async (t) => {
  const app = await startApp(t);
  const long = (count: number) => 'x'.repeat(count);
  const alerts = [{ labels: { alertname: long(300), host: long(300) }, annotations: { summary: `a\0b${long(5000)}` } }];
  await app.request('POST', '/api/alert/alertmanager', { body: { alerts } });
  const [{ source, message, hostname } = {}] = await readRecords(app);
  assert.deepEqual([String(source).length, String(message).length, String(hostname).length], [256, 4096, 253]);
  for (const text of [source, message, hostname]) assert.ok(String(text).endsWith('…'));
  assert.ok(String(message).startsWith('abx'));
});

test('a stored alert keeps the delivering instances from the header Via and from the alert itself', async (t) => {
  const app = await startApp(t);
  const [one, two] = ['signalbox/0123456789abcdef', 'signalbox/fedcba9876543210'];
  const alerts = [{ labels: { alertname: 'a' }, annotations: { via: two } }, { labels: { alertname: 'b', via: 'x' } }];
  const headers = { via: `1.1 proxy, ${one}` };
  await app.request('POST', '/api/alert/alertmanager', { body: { alerts }, headers });
  const next = alerts.map((alert) => ({ ...alert, startsAt: '2026-01-31T09:30:00Z' }));
  await app.request('POST', '/api/alert/alertmanager', { body: { alerts: next } });
  const vias = (await readRecords(app)).map(({ via }) => via);
  assert.deepEqual(vias, [`${one}, ${two}`, one, two, undefined]);
});

test('with alertsAuth bearer, the intake paths need a token', async (t) => {
  const app = await startApp(t, { settings: { alertsAuth: 'bearer' } });
  const body = samples.slack;
  assert.equal((await app.request('POST', '/api/alert/slack', { body })).status, 401);
  assert.equal((await app.request('POST', '/api/alert/slack', { body, token: await app.login('reader') })).status, 200);
});

for (const [code, status] of [
  ['unavailable', 503],
  ['queue-full', 503],
  ['too-large', 413],
] as const) {
  test(`an error ${code} of the log gets ${status}`, async (t) => {
    const error = new JournalError(code, 'no');
    const features = changeJournal((journal) => ({ ...journal, appendAll: () => Promise.reject(error) }));
    const { request } = await startApp(t, { features });
    const response = await request('POST', '/api/alert/slack', { body: samples.slack });
    assert.deepEqual([response.status, response.headers['retry-after']], [status, '1']);
  });
}
