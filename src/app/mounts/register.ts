import type { FastifyInstance, FastifySchema } from 'fastify';
import type { createGuard } from '../../auth/guard.ts';
import { hiddenMethods } from '../../http/error-response.ts';
import { ErrorBody } from '../../http/errors.ts';
import type { Route } from '../../profiles/route.ts';
import type { BuiltMount, MountedProfile } from './build.ts';

type Guard = ReturnType<typeof createGuard>;

/** Adds the routes of all mounts. */
export const registerMounts = async (
  app: FastifyInstance,
  mounts: readonly BuiltMount[],
  guard: Guard,
): Promise<void> => {
  const suffixes = createSuffixes(mounts.map(({ base }) => base));
  for (const [index, { base, profiles }] of mounts.entries()) {
    for (const profile of profiles) await registerProfile(app, { base, suffix: suffixes[index] ?? '' }, profile, guard);
  }
};

interface Place {
  base: string;
  /** Ends the operation ids. */
  suffix: string;
}

/** Adds a profile's routes under the mount's base path, in a Fastify scope of their own. */
const registerProfile = async (
  app: FastifyInstance,
  { base, suffix }: Place,
  { name, strict, routes }: MountedProfile,
  guard: Guard,
): Promise<void> => {
  const prefix = base === '/' ? '' : base;
  const addRoute = (scope: FastifyInstance, route: Route): void => {
    const {
      path,
      access,
      scope: keyScope,
      summary,
      looseSlash,
      staysOpen: _staysOpen,
      canBeOpen: _canBeOpen,
      yieldsTo: _yieldsTo,
      schema,
      headers: _headers,
      body,
      ...handling
    } = route;
    const config: object = { ...(strict && { [hiddenMethods]: true }), ...(body && { body }) };
    const options = { ...handling, onRequest: guard(access, keyScope), exposeHeadRoute: !strict, config };
    scope.route({ ...options, url: path, schema: toDocumented(route, suffix, name) });
    if (looseSlash) scope.route({ ...options, url: `${path}/`, schema: { ...schema, hide: true } });
  };
  await app.register(
    async (scope) => {
      for (const route of routes) addRoute(scope, route);
    },
    { prefix },
  );
};

/** The route's schema with its OpenAPI metadata. */
const toDocumented = (
  { summary, access, scope, schema, headers }: Route,
  suffix: string,
  profile: string,
): FastifySchema => ({
  ...schema,
  operationId: `${schema.operationId}${suffix}`,
  summary,
  tags: [profile],
  security: access === 'open' ? [] : [{ bearer: [] }, ...(scope ? [{ key: [] }] : [])],
  response: { ...(schema.response as object), ...(access === 'admin' && { 403: ErrorBody }) },
  ...(headers && { documentedHeaders: headers }),
});

/** A suffix for each base path, numbered (`AtX_2`) if an earlier path has the same name or there is no name. */
const createSuffixes = (bases: readonly string[]): string[] => {
  const names = bases.map(toName);
  return names.map((name, index) => {
    const count = names.slice(0, index + 1).filter((each) => each === name).length;
    return count > 1 || name === 'At' ? `${name}_${count}` : name;
  });
};

/** `/simple` → `AtSimple`, `/a/b-c` → `AtABC`; nothing for the base path `/`. */
const toName = (base: string): string =>
  (base === '/' ? '' : `At${base}`).replaceAll(/[^A-Za-z0-9]+(.?)/g, (_separator, letter: string) =>
    letter.toUpperCase(),
  );
