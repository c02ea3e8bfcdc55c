import type { Operations } from 'signalbox/client';
import type { CallRoute } from '../src/client/send.ts';
import type { ServerFacts } from '../src/http/openapi.ts';
import { session } from './session.ts';

/** Operation id of a route when all profiles are at their default mounts. */
export type RouteName = keyof Operations | 'streamEvents';

/** Mounted route. Its path includes the base of its profile. */
export interface MountedRoute extends CallRoute {
  /** Roles that have access. Undefined if everyone has access. */
  roles: readonly string[] | undefined;
}

/** Facts that the server writes into the page about itself. */
export const serverFacts = JSON.parse(document.getElementById('data')?.textContent ?? '{"routes":[]}') as ServerFacts;

/**
 * Suffixes of operation ids by default mount. Needed because some profiles share operation ids with another profile.
 */
const suffixes: Record<string, string> = { 'simple-tasks': 'AtSimple', 'protected-tasks': 'AtProtected' };

/** Mounted routes by name. If a profile is mounted twice, the routes with the shorter base count. */
const routes = new Map<string, MountedRoute>();

for (const { profile = '', ...route } of serverFacts.routes.sort((a, b) => b.path.length - a.path.length)) {
  const name = route.id.replace(/At[A-Z0-9_]\w*$/, '') + (suffixes[profile] ?? '');
  // The health check of the tasks profile has no readings of the machine.
  if (name !== 'getHealth' || profile === 'monitoring') routes.set(name, route);
}

/** Returns the mounted route. Undefined if its profile is not mounted. */
export const findRoute = (name: RouteName): MountedRoute | undefined => routes.get(name);

export const isMounted = (name: RouteName): boolean => findRoute(name) !== undefined;

/** True if the current user may use the route, or could after a login. False if the route is not mounted. */
export const isAllowed = (name: RouteName): boolean => {
  const route = findRoute(name);
  if (!route) return false;
  return !route.roles || session.value === undefined || route.roles.includes(session.value.role);
};

/** True if the route is mounted and the current user has access without another login. */
export const isReadable = (name: RouteName): boolean =>
  isAllowed(name) && (!findRoute(name)?.roles || session.value !== undefined);
