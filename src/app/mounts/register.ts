import type { FastifyInstance, FastifySchema } from 'fastify';
import type { Access, createGuard } from '../../auth/guard.ts';
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
    const { path, access, summary, looseSlash, yieldsTo: _, schema, body, ...handling } = route;
    const config: object = { ...(strict && { [hiddenMethods]: true }), ...(body && { body }) };
    const options = { ...handling, onRequest: guard(access), exposeHeadRoute: !strict, config };
    scope.route({ ...options, url: path, schema: toDocumented(route, `${prefix}${path}`, name) });
    if (looseSlash) scope.route({ ...options, url: `${path}/`, schema: { ...schema, hide: true } });
  };
  await app.register(
    async (scope) => {
      for (const route of routes) addRoute(scope, route);
    },
    { prefix },
  );
};

/** The route's schema with what the OpenAPI document says about it beside the shapes. */
const toDocumented = ({ method, summary, access, schema }: Route, url: string, profile: string): FastifySchema => ({
  ...schema,
  operationId: toOperationId(method, url),
  summary,
  tags: [profile],
  security: access === 'open' ? [] : [{ bearer: [] }],
  response: { ...(schema.response as object), ...refusals[access] },
});

const refusals: Record<Access, Record<number, typeof ErrorBody>> = {
  open: {},
  token: { 401: ErrorBody },
  admin: { 401: ErrorBody, 403: ErrorBody },
};

/** `GET /simple/api/tasks/:id` → `get_simple_api_tasks_id`. */
const toOperationId = (method: string, url: string): string =>
  `${method.toLowerCase()}${url.replaceAll(/[/:]+/g, '_')}`;
