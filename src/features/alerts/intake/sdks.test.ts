import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SeverityNumber } from '@opentelemetry/api-logs';
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-http';
import { OTLPLogExporter as ProtobufLogExporter } from '@opentelemetry/exporter-logs-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider, type LogRecordExporter } from '@opentelemetry/sdk-logs';
import { CloudEvent, emitterFor, HTTP, type Message, Mode } from 'cloudevents';
import { listMessages, readRecords } from '../../../../test/support/alerts.ts';
import { startApp } from '../../../../test/support/app.ts';

const createEvent = (id: string, more: object = {}) =>
  new CloudEvent({
    id,
    source: '/backup/nightly',
    type: 'com.example.backup.failed',
    subject: 'web-1',
    time: '2026-01-31T09:30:00.000Z',
    data: { message: `event ${id}`, severity: 'critical' },
    ...more,
  });

for (const path of ['cloudevents', 'auto']) {
  test(`events of the CloudEvents SDK are stored at ${path} in all modes`, async (t) => {
    const app = await startApp(t);
    const post = async ({ headers, body }: Message) => {
      const response = await fetch(`${app.url}/api/alert/${path}`, {
        method: 'POST',
        headers: headers as Record<string, string>,
        body: body as string,
      });
      assert.equal(response.status, 200);
      return response.json();
    };
    const emit = (mode: Mode) => emitterFor(post, { mode });
    await emit(Mode.STRUCTURED)(createEvent('1'));
    await emit(Mode.BINARY)(createEvent('2'));
    await emit(Mode.BINARY)(createEvent('3', { data: 'event 3', datacontenttype: 'text/plain', severity: 'high' }));
    await emit(Mode.BINARY)(createEvent('4', { data: Buffer.from([0xff, 0]), datacontenttype: 'image/png' }));
    const batch = [createEvent('5'), createEvent('6')].map((event) => JSON.parse(String(HTTP.structured(event).body)));
    await post({ headers: { 'content-type': 'application/cloudevents-batch+json' }, body: JSON.stringify(batch) });
    assert.deepEqual(await listMessages(app), [
      'event 1',
      'event 2',
      'event 3',
      'com.example.backup.failed',
      'event 5',
      'event 6',
    ]);
    const records = await readRecords(app);
    assert.deepEqual(
      records.map(({ level }) => level),
      ['CRITICAL', 'CRITICAL', 'ERROR', 'WARNING', 'CRITICAL', 'CRITICAL'],
    );
    for (const { source, hostname, startsAt } of records) {
      assert.deepEqual([source, hostname, startsAt], ['/backup/nightly', 'web-1', '2026-01-31T09:30:00.000Z']);
    }
    const again = (await emit(Mode.STRUCTURED)(createEvent('2'))) as { ids: string[]; repeated: number };
    assert.deepEqual([again.repeated, again.ids], [1, [records[1]?.['id']]]);
  });
}

/** Sends log records with OpenTelemetry's SDK. */
const emitLogs = async (exporter: LogRecordExporter): Promise<void> => {
  const provider = new LoggerProvider({
    resource: resourceFromAttributes({ 'service.name': 'shop', 'host.name': 'shop-1' }),
    processors: [new BatchLogRecordProcessor({ exporter })],
  });
  const logger = provider.getLogger('checkout');
  logger.emit({ severityNumber: SeverityNumber.ERROR, body: 'Payment failed', attributes: { order: 42, list: [1] } });
  logger.emit({ severityNumber: SeverityNumber.INFO, body: 'Order placed' });
  logger.emit({ severityNumber: SeverityNumber.FATAL2, body: { message: 'Out of stock', item: 7 } });
  logger.emit({ severityNumber: SeverityNumber.WARN, body: { log: { cause: 'slow' }, took: 1.5 } });
  logger.emit({ body: ['a', true, 7] });
  logger.emit({ body: Buffer.from('as bytes') });
  await provider.forceFlush();
  await provider.shutdown();
};

const emitted = [
  ['ERROR', 'Payment failed'],
  ['INFO', 'Order placed'],
  ['CRITICAL', 'Out of stock'],
  ['WARNING', '{"log":{"cause":"slow"},"took":1.5}'],
  ['WARNING', '["a",true,7]'],
  ['WARNING', 'as bytes'],
];

type Compression = NonNullable<NonNullable<ConstructorParameters<typeof OTLPLogExporter>[0]>['compression']>;

for (const [name, Exporter] of [
  ['JSON', OTLPLogExporter],
  ['Protobuf', ProtobufLogExporter],
] as const) {
  for (const compression of ['none', 'gzip'] as Compression[]) {
    test(`log records of OpenTelemetry's SDK are stored as ${name} with compression ${compression}`, async (t) => {
      const app = await startApp(t);
      for (const [path, expected] of [
        ['/api/alert/otlp', emitted],
        ['/v1/logs', emitted.filter(([level]) => level !== 'INFO')],
      ] as const) {
        const before = (await readRecords(app)).length;
        await emitLogs(new Exporter({ url: app.url + path, compression }));
        const records = (await readRecords(app)).slice(before);
        assert.deepEqual(
          records.map(({ level, message }) => [level, message]),
          expected,
        );
        for (const { source, hostname } of records) assert.deepEqual([source, hostname], ['otlp/shop', 'shop-1']);
        assert.deepEqual(records[0]?.['labels'], { 'service.name': 'shop', 'host.name': 'shop-1', order: '42' });
      }
    });
  }
}
