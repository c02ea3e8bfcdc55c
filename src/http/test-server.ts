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
  app.post('/show', options, async ({ query, body }) => ({ query, body }));
  return {
    app,
    request: async (payload, query = '') => {
      const headers = { host: 'localhost', 'content-type': 'text/plain' };
      const answer = await app.inject({ method: 'POST', url: `/show${query}`, headers, payload });
      return { status: answer.statusCode, json: answer.json() };
    },
  };
};
