import { STATUS_CODES } from 'node:http';
import type { FastifyInstance, FastifySchema, RouteOptions } from 'fastify';
import type { TObject, TSchema } from 'typebox';
import Type from 'typebox';
import { ErrorBody } from './errors.ts';
import { isVitalRoute } from './overload.ts';
import { StaticText } from './pages.ts';

/** Headers of a route by name, with their descriptions. */
export interface DocumentedHeaders {
  request?: Readonly<Record<string, string>>;
  response?: Readonly<Record<string, string>>;
}

declare module 'fastify' {
  interface FastifySchema {
    /** Set to leave the route out of the document. */
    hide?: boolean;
    operationId?: string;
    summary?: string;
    tags?: readonly string[];
    security?: readonly Readonly<Record<string, readonly string[]>>[];
    /** Right that the route needs, unless it is open. */
    right?: string;
    /** Media types of the body. Default: JSON. */
    consumes?: readonly string[];
    /** Request headers. The document shows all of them as optional, because the server checks them itself. */
    documentedHeaders?: DocumentedHeaders;
  }
}

const description =
  'A small operations desk for your servers: alerts, incidents, watches, heartbeats, tasks, commands, and small stores for your scripts.';

const securitySchemes = {
  bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
  key: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'sbk_…',
    description: 'A key with the scope of the route.',
  },
};

interface DocumentFacts {
  version: string;
  tags: readonly { name: string; description: string }[];
  /** Path under which a proxy serves the server. Empty without a proxy path. */
  basePath: string;
  /** Schemas of event data, by topic. */
  topics: Readonly<Record<string, TSchema>>;
  /** Returns the current warning about the settings of this server, for API users. */
  readWarning(): string | undefined;
}

interface OpenApiDocument {
  /** Lists the facts in the document that the console needs to start. They are a fifteenth of its size. */
  listFacts(): ServerFacts;
}

/** Facts about the server and its routes, without schemas. */
export interface ServerFacts {
  version: string;
  license: string;
  /** Time zone of times without an offset. */
  timeZone: string;
  /** Warning for users of this server. */
  warning: string | undefined;
  routes: {
    id: string;
    method: string;
    /** Path including the base of the mount, with parameters in braces. */
    path: string;
    profile: string | undefined;
    /** Roles with access. Undefined if everyone has access. */
    roles: string[] | undefined;
  }[];
}

/** Collects the schemas of all routes that are added later, and serves them as OpenAPI 3.1 at `/openapi.json`. */
export const serveOpenApi = (app: FastifyInstance, about: DocumentFacts): OpenApiDocument => {
  const routes: RouteOptions[] = [];
  app.addHook('onRoute', (route) => void routes.push(route));
  /** Document and its warning. Built when first requested, and again after the warning has changed. */
  let built: { document: StaticText; warning: string | undefined } | undefined;
  const schema = {
    operationId: 'getOpenApi',
    summary: 'Describe every route in OpenAPI 3.1',
    tags: ['documents'],
    security: [],
    response: { 200: Type.Object({}, { additionalProperties: true }) },
  };
  app.get('/openapi.json', { schema }, (request, reply) => {
    const warning = about.readWarning();
    if (!built || built.warning !== warning) {
      const text = JSON.stringify(describeRoutes(routes, about, warning));
      built = { document: new StaticText(Buffer.from(text)), warning };
    }
    return built.document.send(request, reply.type('application/json; charset=utf-8'));
  });
  return {
    listFacts: () => ({
      version: about.version,
      license,
      timeZone: readTimeZone(),
      warning: about.readWarning(),
      routes: listRoutes(routes),
    }),
  };
};

const license = 'MIT';

/** Returns the time zone that applies to times without an offset. */
const readTimeZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;

const toDocumentPath = (url: string): string => url.replace(/:(\w+)/g, '{$1}');

const listRoutes = (routes: readonly RouteOptions[]): ServerFacts['routes'] =>
  routes.flatMap(({ method, url, schema }) => {
    const { operationId: id, hide, tags, security = [] } = schema ?? {};
    if (id === undefined || hide || method === 'HEAD') return [];
    const roles = security.length === 0 ? undefined : security.flatMap(({ bearer = [] }) => bearer);
    return [{ id, method: String(method), path: toDocumentPath(url), profile: tags?.[0], roles }];
  });

const describeRoutes = (
  routes: readonly RouteOptions[],
  { version, tags, basePath, topics }: DocumentFacts,
  warning: string | undefined,
): object => {
  const schemas = {};
  const paths: Record<string, object> = {};
  for (const { method, url, schema, config } of routes) {
    if (!schema || schema.hide || method === 'HEAD') continue;
    const path = toDocumentPath(url);
    const operation = nameShapes(describeOperation(schema, isVitalRoute(config)), schemas);
    paths[path] = { ...paths[path], [String(method).toLowerCase()]: operation };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'signalbox', version, description, license: { name: license, identifier: license } },
    servers: [{ url: `${basePath}/`, description: 'This server' }],
    tags,
    'x-signalbox-time-zone': readTimeZone(),
    ...(warning !== undefined && { 'x-signalbox-warning': warning }),
    'x-signalbox-topics': nameShapes(topics, schemas),
    paths,
    components: { securitySchemes, schemas },
  };
};

/** Describes a route for clients, including its possible errors. */
const describeOperation = (schema: FastifySchema, isVital: boolean): object => {
  const {
    operationId,
    summary,
    tags,
    security,
    right,
    consumes = ['application/json'],
    documentedHeaders = {},
  } = schema;
  const { params, body, querystring: query } = schema as { params?: TObject; body?: TSchema; querystring?: TObject };
  const headers = Object.entries(documentedHeaders.request ?? {}).map(([name, about]) => [
    name,
    Type.Optional(Type.String({ description: about })),
  ]);
  const parameters = [
    ...(query ? describeParameters('query', query) : []),
    ...(params ? describeParameters('path', params) : []),
    ...describeParameters('header', Type.Object(Object.fromEntries(headers))),
  ];
  const responses = {
    ...((body ?? query) && { 400: ErrorBody }),
    ...(security?.length && { 401: ErrorBody }),
    ...(params && { 404: ErrorBody }),
    ...(body && { 413: ErrorBody }),
    ...(!isVital && { 503: ErrorBody }),
    ...(schema.response as Record<string, TSchema>),
    default: ErrorBody,
  };
  return {
    operationId,
    summary,
    tags,
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: describeBody(body, consumes) }),
    security,
    ...(right !== undefined && { 'x-signalbox-right': right }),
    responses: Object.fromEntries(
      Object.entries<TSchema>(responses).map(([status, each]) => [
        status,
        describeResponse(status, each, documentedHeaders.response),
      ]),
    ),
  };
};

/**
 * Describes parameters. A parameter with a default is optional. A parameter with a `documentedType` is documented with
 * that type, although the server accepts any string and answers 404.
 */
const describeParameters = (place: 'query' | 'path' | 'header', { properties, required }: TObject): object[] =>
  Object.entries(properties).map(([name, property]) => {
    const { description, documentedType, ...rest } = property as { description?: string; documentedType?: string };
    return {
      in: place,
      name,
      required: required?.includes(name) === true && !('default' in property),
      ...(description !== undefined && { description }),
      ...toMedia({ ...rest, ...(documentedType !== undefined && { type: documentedType }) }),
    };
  });

const describeBody = (body: TSchema, consumes: readonly string[]): object => ({
  required: true,
  ...('description' in body && { description: body.description }),
  content: Object.fromEntries(consumes.map((type) => [type, toMedia(body)])),
});

const describeResponse = (status: string, schema: TSchema, documented: DocumentedHeaders['response'] = {}): object => {
  const own = Object.entries(status.startsWith('2') ? documented : {});
  const headers = {
    ...(/429|503/.test(status) && { 'Retry-After': { schema: { type: 'integer' } } }),
    ...Object.fromEntries(own.map(([name, about]) => [name, { description: about, schema: { type: 'string' } }])),
  };
  return {
    description: descriptions[status] ?? STATUS_CODES[status],
    ...(Object.keys(headers).length > 0 && { headers }),
    content: 'content' in schema ? schema.content : { 'application/json': toMedia(schema) },
  };
};

/** Moves the example from inside a schema to a place next to it. */
const toMedia = ({ examples, ...schema }: TSchema & { examples?: unknown[] }): object => ({
  schema,
  ...(examples && { example: examples[0] }),
});

const descriptions: Record<string, string> = {
  400: 'The body or a parameter is missing or invalid',
  401: 'The token is missing or invalid, or the login failed',
  403: 'The role or scope is insufficient, or the request is not allowed',
  413: 'The body is too large',
  429: 'Too many attempts; try again after the seconds in Retry-After',
  500: 'The request is valid, but the server failed to process it',
  503: 'The server is busy or cannot store data',
  default: 'Any other error',
};

/**
 * Moves each schema with a title to `shapes` under that title, and leaves a reference in its place. Schemas with the
 * same title are merged: a filter that accepts any text, for example, is documented with the enum of that title.
 * Keywords that few tools know are replaced.
 */
const nameShapes = (value: unknown, shapes: Record<string, object>): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => nameShapes(each, shapes));
  const members = Object.entries(value).map(([key, member]) => {
    if (key === 'const') return ['enum', [member]];
    // The only pattern in use matches any name.
    if (key === 'patternProperties') return ['additionalProperties', nameShapes(Object.values(member)[0], shapes)];
    return [key, nameShapes(member, shapes)];
  });
  const { title, ...shape } = Object.fromEntries(members);
  if (typeof title !== 'string') return Object.fromEntries(members);
  shapes[title] = { ...shapes[title], ...shape };
  return { $ref: `#/components/schemas/${title}` };
};
