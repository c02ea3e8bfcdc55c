import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { loadSettings } from '../config/load.ts';
import { createSettingsSchema } from '../config/schema.ts';
import { createServer } from './server.ts';

const start = (t: TestContext, variables: Record<string, string> = {}): FastifyInstance => {
  const settings = loadSettings(createSettingsSchema([]), {}, variables);
  const app = createServer({ ...settings, log: pino({ level: 'silent' }), machine: 'test' });
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
      // One more than the 1,000 that are served and the 100 that are refused.
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
