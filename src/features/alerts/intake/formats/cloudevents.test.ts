import assert from 'node:assert/strict';
import { test } from 'node:test';
import { samples } from '../../../../../test/support/alert-samples.ts';
import { readRecords } from '../../../../../test/support/alerts.ts';
import { startApp } from '../../../../../test/support/app.ts';
import { readAlert, readAlerts } from '../../../../../test/support/formats.ts';
import { cloudevents } from './cloudevents.ts';

const sample = samples.cloudevents;

test('the source is from the event, and message and level from its data', () => {
  const { fingerprint, ...alert } = readAlert(cloudevents, sample);
  assert.match(fingerprint ?? '', /^[0-9a-f]{16}$/);
  assert.deepEqual(alert, {
    source: '/backup/nightly',
    level: 'ERROR',
    message: 'The backup failed',
    details: undefined,
    links: undefined,
    hostname: 'web-1',
    status: 'firing',
    startsAt: '2026-01-31T09:30:00.000Z',
    labels: { subject: 'web-1', type: 'com.example.backup.failed' },
    link: undefined,
    via: '',
  });
});

test('the message is the data if that is a text, or else the type', () => {
  const { data: _, ...event } = sample;
  const read = (more: object) => readAlert(cloudevents, { ...event, ...more }).message;
  assert.equal(read({ data: 'It failed' }), 'It failed');
  assert.equal(read({ data_base64: Buffer.from('It failed').toString('base64') }), 'It failed');
  assert.equal(read({ data_base64: Buffer.from([0xff]).toString('base64') }), sample.type);
  assert.equal(read({ data: { severity: 'high' } }), sample.type);
  assert.equal(read({ data: [1] }), sample.type);
});

test('attributes take precedence over data, and the status `resolved` is recognized', () => {
  const event = { ...sample, severity: 'p1', host: 'db-1:5432', data: { severity: 'low', status: 'RESOLVED' } };
  const { level, hostname, status, labels } = readAlert(cloudevents, event);
  assert.deepEqual([level, hostname, status, labels?.['severity']], ['CRITICAL', 'db-1', 'resolved', 'p1']);
});

test('each event of a batch has its source and id as fingerprint', () => {
  const fingerprints = readAlerts(cloudevents, [
    sample,
    { ...sample, data: 1 },
    { ...sample, id: '2' },
    { ...sample, source: '/b' },
  ]).map(({ fingerprint }) => fingerprint);
  assert.equal(fingerprints[0], fingerprints[1]);
  assert.equal(new Set(fingerprints).size, 3);
});

test('in binary mode, attributes are percent-encoded headers, and the body is JSON or text', () => {
  const headers = { 'ce-specversion': '1.0', 'ce-id': '%31', 'ce-source': '/caf%C3%A9', 'ce-type': '%ff', host: 'a' };
  const decode = (contentType: string | undefined, text: string) =>
    cloudevents.decode?.({
      headers,
      contentType,
      bytes: Buffer.from(text),
      parseJson: (bytes) => JSON.parse(String(bytes)),
    });
  const attributes = { specversion: '1.0', id: '1', source: '/café', type: '%ff' };
  assert.deepEqual(decode('application/json', '{"a":1}'), { ...attributes, data: { a: 1 } });
  assert.deepEqual(decode('text/plain', '{"a":1}'), { ...attributes, data: '{"a":1}' });
  assert.deepEqual(decode('application/json', ''), { ...attributes, data: '' });
  assert.deepEqual(decode(undefined, 'a'), { ...attributes, data: 'a' });
});

for (const [attributes, expected] of [
  [{ severitynumber: 17, severitytext: 'notice' }, 'ERROR'],
  [{ severitynumber: 24 }, 'CRITICAL'],
  [{ severitynumber: 9 }, 'INFO'],
  [{ severitynumber: 0, severitytext: 'FATAL' }, 'CRITICAL'],
  [{ severitynumber: 25, severitytext: 'Loud' }, 'ERROR'],
  [{ severitytext: 'Info' }, 'INFO'],
] as const) {
  test(`an event with ${JSON.stringify(attributes)} is stored as ${expected} in both modes`, async (t) => {
    const app = await startApp(t);
    const event = { specversion: '1.0', id: '1', source: '/a', type: 'b' };
    const data = { severity: 'error' };
    const structured = { ...event, ...attributes, data };
    const headers = Object.entries({ ...event, id: '2', ...attributes }).map(([name, value]) => [
      `ce-${name}`,
      `${value}`,
    ]);
    const path = '/api/alert/cloudevents';
    assert.equal((await app.request('POST', path, { body: structured })).status, 200);
    const binary = { body: data, headers: { ...Object.fromEntries(headers), 'content-type': 'application/json' } };
    assert.equal((await app.request('POST', path, binary)).status, 200);
    assert.deepEqual(
      (await readRecords(app)).map(({ level }) => level),
      [expected, expected],
    );
  });
}
