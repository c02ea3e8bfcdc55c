import type { AccessLevel } from '../../auth/access.ts';
import { assertNoProblems } from '../../config/settings-error.ts';
import type { Route } from '../../profiles/route.ts';
import { toRouteAccess } from './access.ts';
import type { Mount } from './resolve.ts';

/** A profile with its routes on a mount. */
export interface MountedProfile {
  name: string;
  aliases: readonly string[];
  strict: boolean;
  /** What the setting `access` says of it. */
  level: AccessLevel | undefined;
  routes: Route[];
}

export interface BuiltMount {
  base: string;
  profiles: MountedProfile[];
}

/**
 * Adds the routes to the mounts, with the access that the settings give them, except routes that yield to another profile on
 * the same mount. Throws a SettingsError that names every method and path defined twice.
 */
export const buildMounts = (mounts: readonly Mount[], profiles: readonly MountedProfile[]): BuiltMount[] => {
  const built = mounts.map(({ base, profiles: names }) => ({
    base,
    profiles: names.flatMap((name) =>
      profiles
        .filter((profile) => profile.name === name)
        .map((profile) => ({
          ...profile,
          routes: profile.routes
            .filter(({ yieldsTo }) => yieldsTo === undefined || !names.includes(yieldsTo))
            .map((route) => ({ ...route, access: toRouteAccess(route, profile.level) })),
        })),
    ),
  }));
  assertNoProblems(findClashes(built));
  return built;
};

/** Finds routes that are the same to the router, in two profiles of a mount or in two mounts such as `/` and `/api`. */
const findClashes = (mounts: readonly BuiltMount[]): string[] => {
  const owners = new Map<string, { base: string; profile: string }>();
  const problems: string[] = [];
  for (const { base, profile, method, path } of mounts.flatMap(listRoutes)) {
    const key = `${method} ${toShape(`${base === '/' ? '' : base}${path}`)}`;
    const owner = owners.get(key);
    if (owner?.base === base)
      problems.push(`profiles ${owner.profile} and ${profile} both define ${method} ${path} on mount ${base}`);
    else if (owner) problems.push(`mounts ${owner.base} and ${base} both define ${key}`);
    owners.set(key, { base, profile });
  }
  return problems;
};

const listRoutes = ({ base, profiles }: BuiltMount) =>
  profiles.flatMap(({ name, routes }) => routes.map(({ method, path }) => ({ base, profile: name, method, path })));

/** The router ignores the names of parameters. */
const toShape = (path: string): string => path.replaceAll(/:[^/]+/g, ':id');
