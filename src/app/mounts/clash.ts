import { SettingsError } from '../../config/settings-error.ts';
import type { Route } from '../../profiles/route.ts';

/** A profile with the routes that it serves on a mount. */
export interface MountedProfile {
  name: string;
  strict: boolean;
  routes: Route[];
}

/**
 * The profiles of one mount without the routes that yield to another of them; throws a SettingsError that names
 * both profiles where two define the same method and path.
 */
export const settleClashes = (base: string, profiles: readonly MountedProfile[]): MountedProfile[] => {
  const owners = new Map<string, string>();
  const problems: string[] = [];
  const settled = profiles.map((profile) => ({
    ...profile,
    routes: profile.routes.filter((route) => !profiles.some(({ name }) => name === route.yieldsTo)),
  }));
  for (const { name, routes } of settled) {
    for (const { method, path } of routes) {
      const key = `${method} ${path}`;
      const owner = owners.get(key);
      if (owner) problems.push(`profiles ${owner} and ${name} both define ${key} on mount ${base}`);
      owners.set(key, name);
    }
  }
  if (problems.length > 0) throw new SettingsError(problems);
  return settled;
};

/** Throws a SettingsError where two mounts come to the same method and path, as `/` and `/api` can. */
export const assertNoOverlap = (mounts: readonly { base: string; profiles: MountedProfile[] }[]): void => {
  const owners = new Map<string, string>();
  for (const { base, profiles } of mounts) {
    for (const { method, path } of profiles.flatMap(({ routes }) => routes)) {
      const key = `${method} ${toShape(`${base === '/' ? '' : base}${path}`)}`;
      const owner = owners.get(key);
      if (owner) throw new SettingsError([`mounts ${owner} and ${base} both define ${key}`]);
      owners.set(key, base);
    }
  }
};

/** Two paths are the same to the router whatever their parameters are called. */
const toShape = (path: string): string => path.replaceAll(/:[^/]+/g, ':id');
