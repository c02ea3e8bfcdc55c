import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { samples } from '../../../../test/support/alert-samples.ts';
import { fileOf, readRecords } from '../../../../test/support/alerts.ts';
import { startApp, type TestApp } from '../../../../test/support/app.ts';
import { fc } from '../../../../test/support/random.ts';
import { formats } from './body.ts';

interface Receipt {
  ids: string[];
  repeated: number;
}

const paths = [...formats.map(({ name }) => `/api/alert/${name}`), '/api/alert/auto', '/api/v2/alerts'];

/** Replaces or removes one part of a sample, at any depth. */
const createSpoilt = (sample: unknown): fc.Arbitrary<unknown> =>
  fc.tuple(fc.nat(), fc.option(fc.jsonValue(), { nil: undefined })).map(([place, value]) => {
    const copy: unknown = structuredClone(sample);
    const slots: [owner: Record<string, unknown>, name: string][] = [];
    const visit = (owner: unknown): void => {
      if (typeof owner !== 'object' || owner === null) return;
      for (const name of Object.keys(owner)) {
        slots.push([owner as Record<string, unknown>, name]);
        visit((owner as Record<string, unknown>)[name]);
      }
    };
    visit(copy);
    const [owner, name] = slots[place % slots.length] ?? [{}, ''];
    owner[name] = value;
    return copy;
  });

const anyJson = fc.oneof(fc.jsonValue({ maxDepth: 6 }), ...Object.values(samples).map(createSpoilt));

const createChecker = async (t: TestContext) => {
  const app = await startApp(t);
  let stored = 0;
  const assertStored = async (app: TestApp, { ids, repeated }: Receipt): Promise<void> => {
    stored += ids.length - repeated;
    assert.equal((await readRecords(app)).length, stored);
  };
  return { app, assertStored };
};

test('any JSON on any path gets 200 or 400, and a 200 counts the stored lines', async (t) => {
  const { app, assertStored } = await createChecker(t);
  // Responses to PagerDuty and OpenTelemetry have no ids. Automatic detection counts their alerts.
  const counted = paths.filter((path) => !/pagerduty|otlp/.test(path));
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...counted), anyJson, async (path, body) => {
      const { status, json } = await app.request<Receipt>('POST', path, { body: JSON.stringify(body) });
      assert.ok(status === 200 || status === 400, `${path}: ${status}`);
      await assertStored(app, status === 200 ? json : { ids: [], repeated: 0 });
    }),
    { numRuns: 600 },
  );
});

test('any JSON for PagerDuty and OpenTelemetry gets success or 400', async (t) => {
  const { request } = await startApp(t);
  await fc.assert(
    fc.asyncProperty(anyJson, async (body) => {
      assert.ok(
        [202, 400].includes((await request('POST', '/api/alert/pagerduty', { body: JSON.stringify(body) })).status),
      );
      assert.ok([200, 400].includes((await request('POST', '/api/alert/otlp', { body: JSON.stringify(body) })).status));
    }),
    { numRuns: 300 },
  );
});

const types = [
  'application/json',
  'text/plain',
  'application/x-www-form-urlencoded',
  'application/cloudevents+json',
  'application/octet-stream',
  'image/png',
  ';',
  '\xff',
];
const eventHeaders = { 'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': '/a', 'ce-type': 'b' };

test('any bytes with any content type on any path get success, 400 or 415', async (t) => {
  const { request } = await startApp(t);
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array)),
    fc.string({ unit: 'binary' }).map((text) => Buffer.from(`payload=${text}`)),
    fc.string().map((text) => Buffer.from(text)),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...paths),
      bytes,
      fc.constantFrom(undefined, ...types),
      fc.record({ 'ce-id': fc.constantFrom('1', '%', '%ff', '%E2%82%AC', ''), 'ce-data': fc.constant('x') }),
      fc.boolean(),
      async (path, body, type, more, isEvent) => {
        const headers = {
          ...(type !== undefined && { 'content-type': type }),
          ...(isEvent && { ...eventHeaders, ...more }),
        };
        const { status } = await request('POST', path, { body, headers });
        assert.ok([200, 202, 400, 415].includes(status), `${path}: ${status}`);
      },
    ),
    { numRuns: 500 },
  );
});

test('deep, wide and long JSON gets success, 400 or 413 within three seconds', async (t) => {
  const app = await startApp(t);
  const deep = 200_000;
  const texts = [
    '['.repeat(deep) + ']'.repeat(deep),
    `{"text":"a","x":${'['.repeat(deep)}${']'.repeat(deep)}}`,
    `{"specversion":"1.0","id":"1","source":"a","type":"b","data":${'[{"a":'.repeat(80_000)}1${'}]'.repeat(80_000)}}`,
    `{"event_action":"trigger","payload":{"summary":"a","custom_details":${'{"a":'.repeat(deep / 2)}1${'}'.repeat(deep / 2)}}}`,
    `{"alerts":[${'1,'.repeat(500_000)}1]}`,
    `[${'{"labels":{}},'.repeat(70_000)}{"labels":{}}]`,
    `{"alerts":[{"labels":{${Array.from({ length: 60_000 }, (_, index) => `"k${index}":"v"`).join(',')}}}]}`,
    `{"text":"${'\\u0000'.repeat(170_000)}"}`,
    `{"text":"${'x'.repeat(1_000_000)}"}`,
    `{"__proto__":{"text":"a"}}`,
  ];
  for (const path of ['alertmanager', 'prometheus', 'slack', 'otlp', 'auto'].map((name) => `/api/alert/${name}`)) {
    for (const body of texts) {
      const startedAt = performance.now();
      const { status } = await app.request('POST', path, { body });
      assert.ok([200, 202, 400, 413].includes(status), `${path}: ${status} for ${body.slice(0, 40)}`);
      assert.ok(performance.now() - startedAt < 3000, `${path}: ${body.slice(0, 40)}`);
    }
  }
  assert.ok(
    (await readRecords(app)).every((record) => JSON.stringify(record).length < 100_000),
    fileOf(app),
  );
});

/** Large bodies that are expensive to read. */
const large = {
  '/api/alert/prometheus': [
    { labels: Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`l${index}`, 'x'])) },
  ],
  '/api/alert/slack': { attachments: [...Array(300_000).fill({}), { text: 'a' }] },
  '/api/alert/otlp': {
    resourceLogs: [
      {
        resource: { attributes: Array.from({ length: 25_000 }, (_, index) => ({ key: `k${index}`, value: {} })) },
        scopeLogs: [{ logRecords: Array(1000).fill({}) }],
      },
    ],
  },
};

test('expensive bodies of more than half a MiB get success or 400, and delay other requests by less than 15 s', async (t) => {
  const app = await startApp(t);
  for (const [path, body] of Object.entries(large)) {
    const text = JSON.stringify(body);
    assert.ok(text.length > 600_000 && text.length < 1024 * 1024, `${path}: ${text.length}`);
    const begun = performance.now();
    const [{ status }] = await Promise.all([app.request('POST', path, { body: text }), app.request('GET', '/health')]);
    assert.ok(status === 200 || status === 400, `${path}: ${status}`);
    assert.ok(performance.now() - begun < 15_000, `${path}: ${performance.now() - begun} ms`);
  }
});
