import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { listen } from '../../test/support/app.ts';
import { loadSettings } from '../config/load.ts';
import { createSettingsSchema } from '../config/schema.ts';
import { createMeters } from '../metrics/meters.ts';
import { createServer } from './server.ts';

const start = (t: TestContext, variables: Record<string, string> = {}, meters = createMeters()): FastifyInstance => {
  const settings = loadSettings(createSettingsSchema([]), {}, variables);
  const app = createServer({ ...settings, log: pino({ level: 'silent' }), machine: 'test', meters });
  t.after(() => app.close());
  return app;
};

test('headers, requests, idle connections and the number of connections are limited', (t) => {
  const { server } = start(t);
  const { headersTimeout, requestTimeout, keepAliveTimeout, timeout, maxConnections } = server;
  assert.deepEqual(
    { headersTimeout, requestTimeout, keepAliveTimeout, timeout, maxConnections },
    {
      headersTimeout: 10_000,
      requestTimeout: 30_000,
      keepAliveTimeout: 10_000,
      // Idle connections are closed by idle-timeout.ts.
      timeout: 0,
      // One more connection than the 1,000 that are served and the 100 that are refused.
      maxConnections: 1101,
    },
  );
});

test('settings change the time limits and the number of connections', (t) => {
  const { server } = start(t, {
    SIGNALBOX_HEADERS_TIMEOUT: '1',
    SIGNALBOX_REQUEST_TIMEOUT: '2',
    SIGNALBOX_MAX_CONNECTIONS: '3',
  });
  const { headersTimeout, requestTimeout, maxConnections } = server;
  assert.deepEqual([headersTimeout, requestTimeout, maxConnections], [1000, 2000, 104]);
});

test('parameters and header lines are limited', (t) => {
  const { server, initialConfig } = start(t);
  assert.equal(initialConfig.routerOptions?.maxParamLength, 16 * 1024);
  // One more than the limit, so that an excess is detected.
  assert.equal(server.maxHeadersCount, 201);
});

test('the measured time of a response ends when the response is written, not when its handler returns', async (t) => {
  const meters = createMeters();
  const app = start(t, {}, meters);
  app.get('/busy', (_request, reply) => {
    reply.send('{}');
    const end = performance.now() + 50;
    while (performance.now() < end);
  });
  const { request } = await listen(t, app);
  await request('GET', '/busy');
  const meter = meters.list().find(({ name }) => name === 'http_request_duration_seconds');
  assert.ok(meter?.type === 'histogram');
  const timed = meter.read().map(([labels, { sum }]) => [...labels, sum >= 0.05]);
  assert.deepEqual(timed, [['GET', '/busy', '200', true]]);
});
