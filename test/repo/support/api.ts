import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { pino } from 'pino';
import type { TSchema } from 'typebox';
import { type App, createApp } from '../../../src/app/create-app.ts';
import { type Flags, loadSettings } from '../../../src/config/load.ts';
import { createSettingsSchema } from '../../../src/config/schema.ts';
import { features } from '../../../src/profiles/index.ts';
import type { Route } from '../../../src/profiles/route.ts';
import { createFolder } from '../../support/app.ts';

interface Content {
  content?: { 'application/json': { schema: TSchema } };
}

/** What is read of an operation of the OpenAPI document. */
export interface Operation {
  parameters?: { name: string; in: string }[];
  requestBody?: Content;
  responses: Record<string, Content>;
  security?: object[];
}

/** Operations by `METHOD /path`. */
export type Operations = Record<string, Operation>;

export const settingsSchema = createSettingsSchema(features.map(({ settings }) => settings));

/** Names of all profiles. */
export const profileNames = features.flatMap(({ profiles }) => profiles.map(({ name }) => name));

/** The app with what it mounts; ended with the test. */
export const createAppFor = async (
  t: TestContext,
  flags: Flags = {},
  variables: Record<string, string> = {},
): Promise<App> => {
  const dataDir = join(createFolder(t), 'data');
  const settings = loadSettings(settingsSchema, { dataDir, ...flags }, variables);
  const log = pino({ level: 'silent' });
  const app = await createApp(settings, { log, nodeVersion: process.versions.node, features });
  t.after(() => app.server.close());
  return app;
};

/** The routes of an app with the paths that they are served at. */
export const listServedRoutes = ({ mounts }: App): Route[] =>
  mounts.flatMap(({ base, profiles }) =>
    profiles
      .flatMap(({ routes }) => routes)
      .map((route) => ({ ...route, path: `${base === '/' ? '' : base}${route.path}` })),
  );

/** `GET /api/tasks/{id}`, as documents name a route. */
export const toRouteName = ({ method, path }: Pick<Route, 'method' | 'path'>): string =>
  `${method} ${path.replace(/:(\w+)/g, '{$1}')}`;

/** What the app's OpenAPI document says. */
export const readOperations = async ({ server }: App): Promise<Operations> => {
  const { paths } = (await server.inject('/openapi.json')).json() as { paths: Record<string, Operations> };
  const entries = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(
      ([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const,
    ),
  );
  return Object.fromEntries(entries);
};

export const toJsonSchema = (content: Content | undefined): TSchema | undefined =>
  content?.content?.['application/json'].schema;
