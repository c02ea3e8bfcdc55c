import { STATUS_CODES } from 'node:http';
import type { FastifyInstance, FastifySchema, RouteOptions } from 'fastify';
import Fastify from 'fastify';
import type { TObject, TSchema } from 'typebox';
import Type from 'typebox';
import { ErrorBody } from './errors.ts';
import { buildSerializer } from './json.ts';
import { isVital } from './overload.ts';
import { StaticText } from './pages.ts';
import { buildValidator } from './validation.ts';

const description =
  'One small JSON-over-HTTP server for a host: tasks, items, tokens, host readings, durable alerts and safe diagnostic commands.';

interface Tag {
  name: string;
  description: string;
}

interface About {
  version: string;
  tags: Tag[];
  warning: string | undefined;
}

interface OpenApiDocument {
  /** Sets a warning for the users of this server, whose settings it is about. Returns whether it is another one. */
  setWarning(text: string | undefined): boolean;
}

/** Collects the schemas of all routes added later and serves them as OpenAPI 3.1 at `/openapi.json`. */
export const serveOpenApi = (app: FastifyInstance, version: string, tags: Tag[]): OpenApiDocument => {
  const routes: RouteOptions[] = [];
  app.addHook('onRoute', (route) => void routes.push(route));
  let document: Promise<StaticText> | undefined;
  let warning: string | undefined;
  const schema = {
    operationId: 'getOpenApi',
    summary: 'Describe every route in OpenAPI 3.1',
    tags: ['documents'],
    security: [],
    response: { 200: Type.Object({}, { additionalProperties: true }) },
  };
  app.get('/openapi.json', { schema }, async (request, reply) => {
    document ??= describeRoutes(routes, { version, tags, warning });
    return (await document).send(request, reply.type('application/json; charset=utf-8'));
  });
  return {
    setWarning: (text) => {
      if (text === warning) return false;
      warning = text;
      document = undefined;
      return true;
    },
  };
};

/** The document, built with its first request in an app that is never served: its library slows down startup. */
const describeRoutes = async (
  routes: readonly RouteOptions[],
  { version, tags, warning }: About,
): Promise<StaticText> => {
  const { default: swagger } = await import('@fastify/swagger');
  const app = Fastify({ exposeHeadRoutes: false, schemaController: { compilersFactory: { buildValidator, buildSerializer } } });
  await app.register(swagger, {
    transform: ({ schema, url }) => ({ schema: toDocumented(schema, url), url }),
    openapi: {
      openapi: '3.1.0',
      info: { title: 'signalbox', version, description, license: { name: 'MIT', identifier: 'MIT' } },
      servers: [{ url: '/', description: 'This server' }],
      tags,
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
          key: {
            type: 'http',
            scheme: 'bearer',
            bearerFormat: 'sbk_…',
            description: 'A key with the scope of the route.',
          },
        },
      },
    },
  });
  for (const { method, url, schema } of routes) {
    if (schema !== undefined && method !== 'HEAD') app.route({ method, url, schema, handler: () => undefined });
  }
  await app.ready();
  const schemas = {};
  const document = app.swagger() as { paths: object; components: object };
  const paths = nameShapes(document.paths, schemas);
  /** The zone of times without an offset. */
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  const described = {
    ...document,
    'x-signalbox-time-zone': timeZone,
    ...(warning !== undefined && { 'x-signalbox-warning': warning }),
    paths,
    components: { ...document.components, schemas },
  };
  return new StaticText(Buffer.from(JSON.stringify(described)));
};

/** A route's schema as clients see it, with the errors that it can return. */
const toDocumented = (schema: FastifySchema, url: string): FastifySchema => {
  const { params, body, querystring: query } = schema as { params?: TObject; body?: TObject; querystring?: TObject };
  const responses = {
    ...((body ?? query) && { 400: ErrorBody }),
    ...(schema.security?.length && { 401: ErrorBody }),
    ...(params && { 404: ErrorBody }),
    ...(body && { 413: ErrorBody }),
    ...(!isVital(url) && { 503: ErrorBody }),
    ...(schema.response as Record<string, TSchema>),
    default: ErrorBody,
  };
  const response = Object.fromEntries(
    Object.entries<TSchema>(responses).map(([status, body]) => [
      status,
      { ...toDescribed(status, body), ...toResponseHeaders(schema, status) },
    ]),
  );
  // A query parameter with a default is optional.
  const required = query?.required.filter((name) => !('default' in (query.properties[name] ?? {})));
  return {
    ...schema,
    ...toHeaderSchema(schema),
    ...(query && { querystring: { ...query, required } }),
    ...(params && { params: toDocumentedTypes(params) }),
    response,
  };
};

/** Parameters with a `documentedType` have that in the document, though the server accepts any text and answers 404. */
const toDocumentedTypes = (params: TObject): TObject => {
  const properties = Object.entries<TSchema>(params.properties).map(([name, schema]) => {
    const { documentedType, ...rest } = schema as { documentedType?: string };
    return [name, documentedType === undefined ? schema : { ...rest, type: documentedType }];
  });
  return { ...params, properties: Object.fromEntries(properties) };
};

const toDescribed = (status: string, schema: TSchema) => {
  const headers = /429|503/.test(status) && { headers: { 'Retry-After': { type: 'integer' } } };
  return { ...schema, ...headers, 'x-response-description': descriptions[status] ?? STATUS_CODES[status] };
};

const descriptions: Record<string, string> = {
  400: 'The body or a parameter is missing or invalid',
  401: 'The token is missing or invalid, or the login failed',
  403: 'The role is not sufficient, or the request is not allowed',
  413: 'The body is too large',
  429: 'Too many attempts; Retry-After says when to try again',
  500: 'The request is valid, but the server failed to do it',
  503: 'The server is busy or cannot store data',
  default: 'Any other error',
};

/**
 * Moves each schema with a title to `shapes`, under that name, and leaves a reference in its place. Schemas with the
 * same title are merged: a filter that accepts any text is documented with the enum of that title.
 */
const nameShapes = (value: unknown, shapes: Record<string, object>): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => nameShapes(each, shapes));
  const members = Object.entries(value).map(([key, member]) => [key, nameShapes(member, shapes)]);
  const { title, ...shape } = Object.fromEntries(members);
  if (typeof title !== 'string') return Object.fromEntries(members);
  shapes[title] = { ...shapes[title], ...shape };
  return { $ref: `#/components/schemas/${title}` };
};

/** Headers of a route by name, with what each means. */
export interface DocumentedHeaders {
  request?: Readonly<Record<string, string>>;
  response?: Readonly<Record<string, string>>;
}

/** The schema of a request's headers, for the OpenAPI document only: the server checks them itself. */
const toHeaderSchema = (schema: FastifySchema) => {
  const request = readHeaders(schema).request ?? {};
  const properties = Object.entries(request).map(([name, description]) => [
    name,
    Type.Optional(Type.String({ description })),
  ]);
  return properties.length > 0 ? { headers: Type.Object(Object.fromEntries(properties)) } : {};
};

/** The headers of a response, as the OpenAPI document's plugin takes them. */
const toResponseHeaders = (schema: FastifySchema, status: string): { headers?: Record<string, TSchema> } => {
  const response = Object.entries(readHeaders(schema).response ?? {});
  if (!/^2/.test(status) || response.length === 0) return {};
  return {
    headers: Object.fromEntries(response.map(([name, description]) => [name, Type.String({ description })])),
  };
};

const readHeaders = (schema: FastifySchema): DocumentedHeaders =>
  (schema as { documentedHeaders?: DocumentedHeaders }).documentedHeaders ?? {};
