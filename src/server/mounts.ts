import type { FastifyInstance, FastifySchema } from 'fastify';
import type { Access } from '../auth/access.ts';
import type { createGuard } from '../auth/guard.ts';
import { type Right, scopesOf } from '../auth/rights.ts';
import { roles } from '../auth/token.ts';
import { assertNoProblems } from '../config/settings-error.ts';
import { pickBodyOptions } from '../http/body.ts';
import { hiddenMethods } from '../http/error-response.ts';
import { ErrorBody } from '../http/errors.ts';
import { vitalRoute } from '../http/overload.ts';
import type { Feature, Profile } from '../kit/feature.ts';
import { listProfiles } from '../kit/listing.ts';
import type { Route } from '../kit/route.ts';

/**
 * Pattern of a base path: `/`, or segments of unreserved characters except `.` and `..`, outside `/docs` and
 * `/console`.
 */
export const basePath = /^(?!\/(?:docs|console)(\/|$))(\/|(\/(?!\.\.?(\/|$))[A-Za-z0-9._~-]+)+)$/;

/** Base path with the names of the profiles that it serves. */
export interface Mount {
  base: string;
  profiles: string[];
}

/** Profile with its routes, and with the access that the settings give them. */
export interface ProfileRoutes {
  name: string;
  aliases: readonly string[];
  strict: boolean;
  routes: Route[];
}

/** Base path with the profiles that it serves. */
export interface MountedRoutes {
  base: string;
  profiles: ProfileRoutes[];
}

interface MountSettings {
  profiles?: readonly string[] | undefined;
  mounts?: Record<string, string[]> | undefined;
}

/**
 * Returns the mounts in the settings, or the default mounts of every profile. Throws a SettingsError that names every
 * invalid path and unknown profile.
 */
export const resolveMounts = ({ profiles, mounts }: MountSettings, features: readonly Feature[]): Mount[] => {
  const known = listProfiles(features);
  if (!profiles && !mounts) return listDefaults(known);
  const wanted = Object.entries(profiles ? { '/': [...profiles] } : (mounts ?? {}));
  const problems = wanted.flatMap(([base, names]) => findProblems(base, names, known));
  if (wanted.length === 0 && known.length > 0)
    problems.push('mounts is empty: add at least one base path with profiles');
  assertNoProblems(problems);
  return wanted.map(([base, names]) => ({
    base,
    profiles: [...new Set(names.flatMap((name) => toProfileNames(name, known)))],
  }));
};

const listDefaults = (known: readonly Profile[]): Mount[] => {
  const bases = new Set(known.flatMap(({ mounts = [] }) => mounts));
  const listNames = (base: string) => known.filter(({ mounts }) => mounts?.includes(base)).map(({ name }) => name);
  return [...bases].map((base) => ({ base, profiles: listNames(base) }));
};

type Named = Pick<Profile, 'name' | 'aliases'>;

/** Returns every name and letter that settings can use for a profile, without duplicates. */
export const listProfileNames = (known: readonly Named[]): string[] => [
  ...new Set(known.flatMap(({ name, aliases = [] }) => [name, ...aliases])),
];

/** True if this name in the settings means the profile. */
export const isNamed = ({ name, aliases = [] }: Named, given: string): boolean =>
  given === name || aliases.includes(given);

const toProfileNames = (wanted: string, known: readonly Profile[]): string[] =>
  known.filter((profile) => isNamed(profile, wanted)).map(({ name }) => name);

const findProblems = (base: string, names: string[], known: readonly Profile[]): string[] => {
  const all = known.map(({ name, aliases }) => (aliases ? `${name} (${aliases.join(', ')})` : name)).join(', ');
  const unknown = names.filter((name) => toProfileNames(name, known).length === 0);
  return [
    ...(basePath.test(base) ? [] : [`mount ${JSON.stringify(base)} ${describeFault(base)}`]),
    ...unknown.map((name) => `there is no profile ${JSON.stringify(name)}; the profiles are ${all}`),
  ];
};

const describeFault = (base: string): string => {
  if (/^\/(?:docs|console)(\/|$)/.test(base)) return 'is reserved for the built-in pages';
  if (/(^|\/)\.\.?(\/|$)/.test(base))
    return 'must not have a segment . or .., because clients remove these segments from paths';
  return 'must be / or a path such as /tools';
};

/** Returns the path prefix for the routes of a mount. */
export const toPrefix = (base: string): string => (base === '/' ? '' : base);

/**
 * Adds the routes of profiles to their mounts. Leaves out routes that yield to another profile on the same mount.
 * Throws a SettingsError that names every method and path defined twice.
 */
export const buildMounts = (mounts: readonly Mount[], profiles: readonly ProfileRoutes[]): MountedRoutes[] => {
  const built = mounts.map(({ base, profiles: names }) => ({
    base,
    profiles: names.flatMap((name) =>
      profiles
        .filter((profile) => profile.name === name)
        .map((profile) => ({
          ...profile,
          routes: profile.routes.filter(({ yieldsTo }) => yieldsTo === undefined || !names.includes(yieldsTo)),
        })),
    ),
  }));
  assertNoProblems(findClashes(built));
  return built;
};

/**
 * Finds routes that the router considers equal, either in two profiles of a mount or in two mounts such as `/` and
 * `/api`.
 */
const findClashes = (mounts: readonly MountedRoutes[]): string[] => {
  const owners = new Map<string, { base: string; name: string }>();
  const problems: string[] = [];
  for (const { base, profiles } of mounts) {
    for (const { name, routes } of profiles) {
      for (const { method, path } of routes) {
        // The router ignores parameter names.
        const key = `${method} ${`${toPrefix(base)}${path}`.replaceAll(/:[^/]+/g, ':id')}`;
        const owner = owners.get(key);
        if (owner?.base === base)
          problems.push(`profiles ${owner.name} and ${name} both define ${method} ${path} on mount ${base}`);
        else if (owner) problems.push(`mounts ${owner.base} and ${base} both define ${key}`);
        owners.set(key, { base, name });
      }
    }
  }
  return problems;
};

/** Adds the routes of all mounts to the app, with a separate Fastify scope for each profile. */
export const registerMounts = async (
  app: FastifyInstance,
  mounts: readonly MountedRoutes[],
  guard: ReturnType<typeof createGuard>,
): Promise<void> => {
  const suffixes = createSuffixes(mounts.map(({ base }) => base));
  for (const [index, { base, profiles }] of mounts.entries()) {
    for (const { name, strict, routes } of profiles) {
      const addRoutes = async (scope: FastifyInstance): Promise<void> => {
        for (const route of routes) {
          const { path, looseSlash, schema, isVital } = route;
          const config: object = {
            ...(strict && { [hiddenMethods]: true }),
            ...pickBodyOptions(route),
            ...(isVital && { [vitalRoute]: true }),
          };
          const onRequest = guard(route);
          // The caller may have lost access while the body was arriving.
          const preHandler = route.method === 'GET' ? [] : guard(route, { isFresh: route.changesAccess === true });
          const options = { ...route, onRequest, preHandler, exposeHeadRoute: !strict, config };
          scope.route({ ...options, url: path, schema: toDocumented(route, suffixes[index] ?? '', name) });
          if (looseSlash) scope.route({ ...options, url: `${path}/`, schema: { ...schema, hide: true } });
        }
      };
      await app.register(addRoutes, { prefix: toPrefix(base) });
    }
  }
};

/** Returns the schema of the route with its OpenAPI metadata. `suffix` ends the operation id. */
const toDocumented = (
  { summary, access, right, isSpecified = false, schema, headers }: Route,
  suffix: string,
  profile: string,
): FastifySchema => ({
  ...schema,
  operationId: `${schema.operationId}${suffix}`,
  summary,
  tags: [profile],
  security: toSecurity(access, right),
  right,
  response: {
    ...(schema.response as object),
    ...((access === 'admin' || (access === 'token' && !isSpecified)) && { 403: ErrorBody }),
  },
  ...(headers && { documentedHeaders: headers }),
});

/** Returns the user roles and key scopes that may use a route. Empty if everyone may. */
const toSecurity = (access: Access, right: Right): Record<string, string[]>[] => {
  if (access === 'open') return [];
  const accepted = scopesOf(right);
  return [
    { bearer: roles.filter((role) => access === 'token' || role === 'Admin') },
    ...(accepted.length > 0 ? [{ key: [...accepted] }] : []),
  ];
};

/**
 * Returns a suffix for each base path. The suffix is numbered (`AtX_2`) if an earlier path has the same name, or if the
 * name is empty.
 */
const createSuffixes = (bases: readonly string[]): string[] => {
  const names = bases.map(toName);
  return names.map((name, index) => {
    const count = names.slice(0, index + 1).filter((each) => each === name).length;
    return count > 1 || name === 'At' ? `${name}_${count}` : name;
  });
};

/** Converts a base path to a name: `/simple` → `AtSimple`, `/a/b-c` → `AtABC`. Empty for the base path `/`. */
const toName = (base: string): string =>
  (base === '/' ? '' : `At${base}`).replaceAll(/[^A-Za-z0-9]+(.?)/g, (_separator, letter: string) =>
    letter.toUpperCase(),
  );
