import assert from 'node:assert/strict';
import { test } from 'node:test';
import { samples } from '../../../../../test/support/alert-samples.ts';
import { readAlert, readAlerts } from '../../../../../test/support/formats.ts';
import { otlp } from './otlp.ts';

const read = (record: object) => readAlert(otlp, { resourceLogs: [{ scopeLogs: [{ logRecords: [record] }] }] });

test('a log record has the service as source, and the attributes of record and resource as labels', () => {
  assert.deepEqual(readAlert(otlp, samples.otlp), {
    source: 'otlp/shop',
    level: 'ERROR',
    message: 'Payment failed',
    details: undefined,
    links: undefined,
    link: undefined,
    hostname: 'shop-1',
    status: 'firing',
    startsAt: '2026-01-31T09:30:00.000Z',
    labels: { 'service.name': 'shop', 'host.name': 'shop-1', order: '42' },
    via: '',
  });
});

test('the number of a severity takes precedence over its name', () => {
  const levels = [1, 5, 9, 12, 13, 17, 21, 24].map(
    (severityNumber) => read({ severityNumber, severityText: 'x' }).level,
  );
  assert.deepEqual(levels, ['INFO', 'INFO', 'INFO', 'INFO', 'WARNING', 'ERROR', 'CRITICAL', 'CRITICAL']);
  assert.equal(read({ severityText: 'Fatal' }).level, 'CRITICAL');
  assert.equal(read({ severityNumber: 0 }).level, 'WARNING');
});

test('the message is from a map, or without a body from the event or the exception', () => {
  const values = [{ key: 'n', value: { intValue: 1 } }, 7, { key: 'message', value: { stringValue: 'Failed' } }];
  assert.equal(read({ body: { kvlistValue: { values } } }).message, 'Failed');
  assert.equal(read({ body: { arrayValue: { values: [] } }, eventName: 'order.failed' }).message, 'order.failed');
  const attributes = [{ key: 'exception.message', value: { stringValue: 'It broke' } }];
  assert.equal(read({ attributes }).message, 'It broke');
  assert.equal(read({ body: { intValue: '7' } }).message, '7');
  assert.equal(read({ body: { boolValue: false } }).message, 'false');
});

test('a map without a message, a list and bytes are converted to text', () => {
  const text = (stringValue: string) => ({ stringValue });
  const map = (members: Record<string, unknown>) => ({
    kvlistValue: { values: Object.entries(members).map(([key, value]) => ({ key, value })) },
  });
  for (const [body, expected] of [
    [map({ msg: text('a'), n: text('b') }), 'a'],
    [map({ log: text('a\n') }), 'a\n'],
    [map({ error: text('a') }), 'a'],
    [map({ n: text('b'), inner: map({ ok: { boolValue: true } }) }), '{"n":"b","inner":{"ok":true}}'],
    [{ arrayValue: { values: [text('a'), { intValue: '7' }, { doubleValue: 1.5 }] } }, '["a",7,1.5]'],
    [{ bytesValue: Buffer.from('é').toString('base64') }, 'é'],
    [{ bytesValue: '//8=' }, '//8='],
    [map({}), ''],
  ] as const) {
    assert.equal(read({ body }).message, expected);
  }
});

test('times of OpenTelemetry are in nanoseconds, and 0 means no time', () => {
  assert.equal(
    read({ timeUnixNano: '0', observedTimeUnixNano: 1769851800000000000 }).startsAt,
    '2026-01-31T09:30:00.000Z',
  );
  assert.equal(read({ timeUnixNano: '9'.repeat(40) }).startsAt, undefined);
  assert.equal(read({ timeUnixNano: 'never' }).startsAt, undefined);
});

test('a body without records has no alerts', () => {
  assert.deepEqual(readAlerts(otlp, {}), []);
  assert.deepEqual(readAlerts(otlp, { resourceLogs: [{}, { scopeLogs: [{}] }] }), []);
});
