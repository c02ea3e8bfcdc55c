import { findRoute, type RouteName } from './mounts.ts';
import { session } from './session.ts';

/** True if the present user may use the route, or could after a login. False if it is not mounted. */
export const isAllowed = (route: RouteName): boolean => {
  const access = findRoute(route)?.access;
  if (access === undefined) return false;
  return access !== 'admin' || session.value === undefined || session.value.role === 'Admin';
};

/** True if the route is mounted and open to the present user, without another login. */
export const isReadable = (route: RouteName): boolean =>
  isAllowed(route) && (findRoute(route)?.access === 'open' || session.value !== undefined);
