import { signal } from '@preact/signals';

/** A route as the console asks for it: by profile, and by path without the base that the profile is mounted on. */
export interface RouteName {
  profile: string;
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** As in the OpenAPI document, e.g. `/api/tasks/{id}`. */
  path: string;
}

/** A mounted route. */
export interface MountedRoute {
  /** With its base. */
  path: string;
  access: 'open' | 'token' | 'admin';
}

interface Operation {
  tags?: string[];
  security?: unknown[];
  responses?: Record<string, unknown>;
}

export interface OpenApi {
  info: { version: string };
  /** The zone of times without an offset. */
  'x-signalbox-time-zone'?: string;
  /** For the people who use this server. */
  'x-signalbox-warning'?: string;
  paths: Record<string, Record<string, Operation>>;
}

/** The server's OpenAPI document; undefined until it is loaded. */
export const openApi = signal<OpenApi | undefined>(undefined);

/** The mounted route; undefined if its profile is not mounted or has no such route. The shortest base wins. */
export const findRoute = ({ profile, method, path }: RouteName): MountedRoute | undefined => {
  const found = Object.entries(openApi.value?.paths ?? {})
    .map(([mounted, operations]) => ({ mounted, operation: operations[method.toLowerCase()] }))
    .filter(({ mounted, operation }) => mounted.endsWith(path) && operation?.tags?.includes(profile))
    .sort((a, b) => a.mounted.length - b.mounted.length)[0];
  return found?.operation && { path: found.mounted, access: toAccess(found.operation) };
};

export const isMounted = (route: RouteName): boolean => findRoute(route) !== undefined;

/** A route with a security scheme needs a token; one that also answers 403 needs the role Admin. */
const toAccess = ({ security = [], responses = {} }: Operation): MountedRoute['access'] => {
  if (security.length === 0) return 'open';
  return '403' in responses ? 'admin' : 'token';
};
