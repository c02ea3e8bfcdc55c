import type { TSchema } from 'typebox';
import { features } from '../../../src/features/index.ts';
import type { Route } from '../../../src/kit/route.ts';
import type { TestApp } from '../../support/app.ts';
import { resolveReferences } from '../../support/openapi.ts';

interface Content {
  content?: { 'application/json': { schema: TSchema } };
}

/** OpenAPI operation, with only the members that the tests read. */
interface Operation {
  operationId: string;
  summary: string;
  parameters?: { name: string; in: string }[];
  requestBody?: Content;
  responses: Record<string, Content & { description: string }>;
  security?: object[];
}

/** Operations, keyed by `METHOD /path`. */
export type Operations = Record<string, Operation>;

/** Names of all profiles. */
export const profileNames = features.flatMap(({ profiles }) => profiles.map(({ name }) => name));

/** Settings that give every profile its routes. No database listens at this address. */
export const withDatabase = { store: 'postgres://127.0.0.1:1/none', timeZone: 'UTC' };

/** Lists an app's routes with their full paths. */
export const listServedRoutes = ({ mounts }: TestApp): Route[] =>
  mounts.flatMap(({ base, profiles }) =>
    profiles
      .flatMap(({ routes }) => routes)
      .map((route) => ({ ...route, path: `${base === '/' ? '' : base}${route.path}` })),
  );

/** Formats a route as in documents: `GET /api/tasks/{id}`. */
export const toRouteName = ({ method, path }: Pick<Route, 'method' | 'path'>): string =>
  `${method} ${path.replace(/:(\w+)/g, '{$1}')}`;

/** Reads the operations from the app's OpenAPI document. */
export const readOperations = async ({ request }: TestApp): Promise<Operations> => {
  const { json } = await request<{ paths: Record<string, Operations> }>('GET', '/openapi.json');
  const entries = Object.entries(resolveReferences(json).paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
  );
  return Object.fromEntries(entries);
};

/** False for an operation that accepts only plain text, because the client has no method for it. */
export const takesJson = ({ requestBody }: Pick<Operation, 'requestBody'>): boolean =>
  requestBody?.content === undefined || 'application/json' in requestBody.content;

export const toJsonSchema = (content: Content | undefined): TSchema | undefined =>
  content?.content?.['application/json'].schema;
