import type { FastifyInstance, FastifySchema } from 'fastify';
import type { createGuard } from '../../auth/guard.ts';
import { ErrorBody } from '../../http/response/errors.ts';
import { hiddenMethods } from '../../http/routes/not-found.ts';
import type { Route } from '../../profiles/route.ts';
import type { MountedProfile } from './build.ts';

type Guard = ReturnType<typeof createGuard>;

/** Adds a profile's routes under the mount's base path, in a scope of their own. */
export const registerProfile = async (
  app: FastifyInstance,
  base: string,
  { name, strict, routes }: MountedProfile,
  guard: Guard,
): Promise<void> => {
  const prefix = base === '/' ? '' : base;
  const addRoute = (scope: FastifyInstance, route: Route): void => {
    const { path, access, scope: keyScope, summary, looseSlash, yieldsTo: _, schema, body, ...handling } = route;
    const config: object = { ...(strict && { [hiddenMethods]: true }), ...(body && { body }) };
    const options = { ...handling, onRequest: guard(access, keyScope), exposeHeadRoute: !strict, config };
    scope.route({ ...options, url: path, schema: toDocumented(route, prefix, name) });
    if (looseSlash) scope.route({ ...options, url: `${path}/`, schema: { ...schema, hide: true } });
  };
  await app.register(
    async (scope) => {
      for (const route of routes) addRoute(scope, route);
    },
    { prefix },
  );
};

/** The route's schema with the rest of what the OpenAPI document says about it. */
const toDocumented = ({ summary, access, scope, schema }: Route, base: string, profile: string): FastifySchema => ({
  ...schema,
  operationId: `${schema.operationId}${toSuffix(base)}`,
  summary,
  tags: [profile],
  security: access === 'open' ? [] : [{ bearer: [] }, ...(access === 'token' && scope ? [{ key: [] }] : [])],
  response: { ...(schema.response as object), ...(access === 'admin' && { 403: ErrorBody }) },
});

/** `/simple` → `AtSimple`, `/a/b-c` → `AtABC`; nothing for the base path `/`. */
const toSuffix = (base: string): string =>
  base.replace(/^./, 'At/').replaceAll(/[^A-Za-z0-9]+(.?)/g, (_separator, letter: string) => letter.toUpperCase());
