import swagger from '@fastify/swagger';
import type { FastifyInstance, FastifySchema } from 'fastify';
import Type, { type TObject } from 'typebox';
import { sendJson } from '../response/json.ts';

const description =
  'One small JSON-over-HTTP server for a host: tasks, items, tokens, host readings, durable alerts and safe diagnostic commands.';

/** Collects the schemas of all routes that come after it and serves them as OpenAPI 3.1 at `/openapi.json`. */
export const serveOpenApi = async (
  app: FastifyInstance,
  version: string,
  tags: { name: string; description: string }[],
): Promise<void> => {
  await app.register(swagger, {
    transform: ({ schema, url }) => ({ schema: toDocumented(schema), url }),
    openapi: {
      openapi: '3.1.0',
      info: { title: 'signalbox', version, description, license: { name: 'MIT', identifier: 'MIT' } },
      servers: [{ url: '/', description: 'This server' }],
      tags,
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } } },
    },
  });
  const schema = {
    operationId: 'getOpenApi',
    summary: 'This document: every route with its shapes',
    tags: ['documents'],
    security: [],
    response: { 200: Type.Object({}, { additionalProperties: true, description: 'OpenAPI 3.1' }) },
  };
  app.get('/openapi.json', { schema }, (_request, reply) => sendJson(reply, app.swagger()));
};

/** A query parameter with a default need not be given. */
const toDocumented = (schema: FastifySchema): FastifySchema => {
  const query = schema.querystring as TObject | undefined;
  if (!query) return schema;
  const required = query.required.filter((name) => !('default' in (query.properties[name] ?? {})));
  return { ...schema, querystring: { ...query, required } };
};
