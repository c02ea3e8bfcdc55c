import type { TestContext } from 'node:test';
import type { FastifyInstance, RouteShorthandOptions } from 'fastify';
import { pino } from 'pino';
import { loadSettings } from '../config/load.ts';
import { createSettingsSchema } from '../config/schema.ts';
import { createServer } from './server.ts';

interface TestServer {
  app: FastifyInstance;
  /** Posts a body to the route, which answers what it was handed. */
  request(body: string | Buffer, query?: string): Promise<{ status: number; json: unknown }>;
}

/** A server with one route that shows its query and its body; closed with the test. */
export const startServer = (t: TestContext, options: RouteShorthandOptions): TestServer => {
  const settings = loadSettings(createSettingsSchema([]), {}, {});
  const app = createServer({ ...settings, log: pino({ level: 'silent' }), machine: 'test' });
  t.after(() => app.close());
  let listening: Promise<string> | undefined;
  app.post('/show', options, async ({ query, body }) => ({ query, body }));
  return {
    app,
    request: async (payload, query = '') => {
      listening ??= app.listen({ host: '127.0.0.1', port: 0 });
      const url = await listening;
      const headers = { 'content-type': 'text/plain' };
      const response = await fetch(`${url}/show${query}`, { method: 'POST', headers, body: payload });
      return { status: response.status, json: await response.json() };
    },
  };
};
