import { type Access, type AccessLevel, type AccessSetting, needs } from '../auth/access.ts';
import type { Profile } from '../kit/feature.ts';
import type { Route } from '../kit/route.ts';
import type { Topic } from '../kit/topic.ts';
import { isLoopback } from '../lib/loopback.ts';
import { isNamed, listProfileNames, type MountedRoutes, toPrefix } from './mounts.ts';

type Named = Pick<Profile, 'name' | 'aliases' | 'fixedAccess'>;

/** Returns the reasons why the setting `access` does not fit the profiles of the program, as clauses. */
export const findAccessProblems = (setting: AccessSetting, known: readonly Named[]): string[] => {
  if (typeof setting === 'string') return [];
  return Object.entries(setting).flatMap(([given, level]) => {
    const profiles = known.filter((profile) => isNamed(profile, given));
    const isOwnName = profiles.some(({ name }) => name === given);
    if (profiles.length === 0) {
      return [`access has no profile ${JSON.stringify(given)}; the profiles are ${listProfileNames(known).join(', ')}`];
    }
    return profiles.flatMap((profile) => [
      ...(!isOwnName && setting[profile.name] !== undefined
        ? [`access names the profile ${profile.name} twice, also as ${given}: remove ${given}`]
        : []),
      ...findFixedProblems(profile, level),
    ]);
  });
};

const findFixedProblems = ({ name, fixedAccess }: Named, level: AccessLevel): string[] => {
  if (fixedAccess === 'closed' && level === 'open') {
    return [
      `access cannot open the profile ${name}, which always needs a token: use "login" or "admin", or remove ${name} from access`,
    ];
  }
  if (fixedAccess === 'open' && level !== 'open') {
    return [`access cannot close the profile ${name}, which issues tokens: remove ${name} from access`];
  }
  return [];
};

/** Returns the level of a profile in the setting `access`. Undefined if its routes keep their default access. */
export const toProfileLevel = (setting: AccessSetting, { name, aliases = [] }: Named): AccessLevel | undefined => {
  if (typeof setting === 'string') return setting === 'login' ? 'login' : undefined;
  return [name, ...aliases].map((each) => setting[each]).find((level) => level !== undefined);
};

/** Returns the access rule of a route in a profile with this level. */
export const toRouteAccess = (route: Route, level: AccessLevel | undefined): Access => {
  const { access, right, staysOpen, canBeOpen } = route;
  if (level === undefined || staysOpen) return access;
  if (level === 'open') return canBeOpen ? 'open' : access;
  return level === 'admin' ? 'admin' : needs(right).access;
};

/**
 * Returns the access rule of a topic in a profile with this level. Callers who may read the routes of the profile may
 * also listen.
 */
export const toTopicAccess = ({ access, right }: Topic, level: AccessLevel | undefined): Access => {
  if (level === undefined || level === 'open') return access;
  return level === 'admin' ? 'admin' : needs(right).access;
};

/** Routes that other machines can use without a token. */
export interface OpenRoutesNotice {
  /** Sentence that tells people what to do about the open routes. */
  warning: string;
  /** Routes in the form `GET, POST /api/tasks`. */
  openRoutes: string[];
}

/**
 * Returns the notice about open routes. Undefined if the server listens on loopback without a proxy, or if only health
 * checks and login are open.
 */
export const findOpenRoutesNotice = (
  mounts: readonly MountedRoutes[],
  { host, trustProxy }: { host: string; trustProxy: readonly string[] },
): OpenRoutesNotice | undefined => {
  const isFar = !isLoopback(host);
  const openRoutes = mounts.flatMap(({ base, profiles }) => {
    const routes = profiles.flatMap((profile) => profile.routes);
    return describeOpenRoutes(base, routes, ({ staysOpen }) => !staysOpen);
  });
  if (openRoutes.length === 0 || !(isFar || trustProxy.length > 0)) return undefined;
  const from = isFar ? `the server listens on ${host}` : `trustProxy names a proxy`;
  return {
    warning: `Warning: ${from}, and ${openRoutes.length} paths need no token. Set access to "login", unless everyone who can reach the server should have access.`,
    openRoutes,
  };
};

/** Returns one line for each profile that the setting `access` opens to everyone. */
export const listOpenedProfiles = (mounts: readonly MountedRoutes[]): string[] =>
  mounts.flatMap(({ base, profiles }) =>
    profiles.flatMap(({ name, routes }) => {
      const opened = describeOpenRoutes(base, routes, ({ canBeOpen }) => canBeOpen === true);
      return opened.length === 0
        ? []
        : `Warning: anyone who can reach this server can use ${opened.join(' and ')} without a token, because access is "open" for ${name}`;
    }),
  );

/** Lists the routes of a mount that need no token, one line per path: `GET, POST /protected/api/tasks`. */
const describeOpenRoutes = (base: string, routes: readonly Route[], isCounted: (route: Route) => boolean): string[] => {
  const methods = new Map<string, string[]>();
  for (const route of routes) {
    const { method, path, access } = route;
    if (access === 'open' && isCounted(route)) methods.set(path, [...(methods.get(path) ?? []), method]);
  }
  return Array.from(methods, ([path, names]) => `${names.join(', ')} ${toPrefix(base)}${path}`);
};
