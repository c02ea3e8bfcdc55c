import { isLoopback } from '../../http/admission.ts';
import type { Route } from '../../profiles/route.ts';
import type { BuiltMount } from './build.ts';

/** Routes that others than the users of this machine may use without a token. */
export interface Exposure {
  /** A sentence for people that says what to do. */
  warning: string;
  /** As `GET, POST /api/tasks`. */
  openRoutes: string[];
}

/** Undefined if the server listens on loopback without a proxy, or only health checks and login are open. */
export const findExposure = (
  mounts: readonly BuiltMount[],
  { host, trustProxy }: { host: string; trustProxy: readonly string[] },
): Exposure | undefined => {
  const isFar = !isLoopback(host);
  const openRoutes = listOpenRoutes(mounts, ({ staysOpen }) => !staysOpen);
  if (openRoutes.length === 0 || !(isFar || trustProxy.length > 0)) return undefined;
  const from = isFar ? `the server listens on ${host}` : `trustProxy names a proxy`;
  return {
    warning: `Warning: ${from}, and ${openRoutes.length} paths need no token. Set access to "login", unless everyone who can reach them may use them.`,
    openRoutes,
  };
};

/** A line for each profile that the setting `access` opens to everyone. */
export const listOpenedProfiles = (mounts: readonly BuiltMount[]): string[] =>
  mounts.flatMap(({ base, profiles }) =>
    profiles.flatMap(({ name, routes }) => {
      const opened = listOpenRoutes([{ base, profiles: [{ name, routes }] }], ({ canBeOpen }) => canBeOpen === true);
      return opened.length === 0
        ? []
        : `Warning: anyone who can reach this server may use ${opened.join(' and ')} without a token, because access is "open" for ${name}`;
    }),
  );

interface OpenMount {
  base: string;
  profiles: readonly { name: string; routes: readonly Route[] }[];
}

/** The routes that need no token, a line for each path: `GET, POST /protected/api/tasks`. */
const listOpenRoutes = (mounts: readonly OpenMount[], isCounted: (route: Route) => boolean): string[] =>
  mounts.flatMap(({ base, profiles }) => {
    const methods = new Map<string, string[]>();
    for (const route of profiles.flatMap(({ routes }) => routes)) {
      const { method, path, access } = route;
      if (access === 'open' && isCounted(route)) methods.set(path, [...(methods.get(path) ?? []), method]);
    }
    return [...methods].map(([path, names]) => `${names.join(', ')} ${base === '/' ? '' : base}${path}`);
  });
