import type { TestContext } from 'node:test';
import Fastify, { type FastifyInstance, type RouteShorthandOptions } from 'fastify';
import { pino } from 'pino';
import { loadSettings } from '../../src/config/load.ts';
import { createSettingsSchema } from '../../src/config/schema.ts';
import { buildSerializer } from '../../src/http/json.ts';
import { createServer } from '../../src/http/server.ts';
import { buildValidator, convertQueries } from '../../src/http/validation.ts';
import { createRequest } from './app.ts';

/** Creates a Fastify server without the program's routes, but with the program's schema checks. */
export const createBareServer = (): FastifyInstance => {
  const app = Fastify({ schemaController: { compilersFactory: { buildValidator, buildSerializer } } });
  convertQueries(app);
  return app;
};

interface TestServer {
  app: FastifyInstance;
  /** Posts a body to the route. The route returns the query and body that it received. */
  request(body: string | Buffer, query?: string): Promise<{ status: number; json: unknown }>;
}

/** Starts a server with one route that returns its query and body. The server is closed when the test ends. */
export const startServer = (t: TestContext, options: RouteShorthandOptions): TestServer => {
  const settings = loadSettings(createSettingsSchema([]), {}, {});
  const app = createServer({ ...settings, log: pino({ level: 'silent' }), machine: 'test' });
  const send = createRequest(t, app);
  app.post('/show', options, async ({ query, body }) => ({ query, body }));
  return {
    app,
    request: async (body, query = '') => {
      const headers = { 'content-type': 'text/plain' };
      const { status, json } = await send<unknown>('POST', `/show${query}`, { headers, body });
      return { status, json };
    },
  };
};
