import { computed, signal } from '@preact/signals';
import type { Operations } from 'signalbox/client';
import type { CallRoute } from '../src/client/send.ts';
import { session } from './session.ts';

/** Operation id of a route when all profiles are at their default mounts. */
export type RouteName = keyof Operations | 'streamEvents';

/** Mounted route. Its path includes the base of its profile. */
export interface MountedRoute extends CallRoute {
  /** Roles that have access; undefined if everyone has access. */
  roles: readonly string[] | undefined;
  /** Schema of the response body. */
  response: Schema | undefined;
}

/** JSON Schema keywords that responses are checked against. */
interface Schema {
  $ref?: string;
  anyOf?: Schema[];
  type?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
}

interface Operation {
  operationId: string;
  tags?: string[];
  security?: { bearer?: string[] }[];
  responses: Record<string, { content?: Record<string, { schema?: Schema }> }>;
}

export interface OpenApi {
  info: { version: string; license?: { name: string } };
  /** Zone for times without an offset. */
  'x-signalbox-time-zone'?: string;
  /** Warning for users of this server. */
  'x-signalbox-warning'?: string;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

/** The server's OpenAPI document; undefined until loaded. */
export const openApi = signal<OpenApi | undefined>(undefined);

/** Suffixes of operation ids for profiles that share operation ids with another profile, by default mount. */
const suffixes: Record<string, string> = { 'simple-tasks': 'AtSimple', 'protected-tasks': 'AtProtected' };

/** Mounted routes by name. If a profile is mounted twice, the routes with the shorter base. */
const routes = computed(() => {
  const found = new Map<string, MountedRoute>();
  const paths = Object.entries(openApi.value?.paths ?? {}).sort(([a], [b]) => b.length - a.length);
  for (const [path, operations] of paths) {
    for (const [method, { operationId: id, tags = [], ...operation }] of Object.entries(operations)) {
      const [profile = ''] = tags;
      const name = id.replace(/At[A-Z0-9_]\w*$/, '') + (suffixes[profile] ?? '');
      // The health check of the tasks profile has no readings of the machine.
      if (name === 'getHealth' && profile !== 'monitoring') continue;
      found.set(name, { id, path, method: method.toUpperCase(), ...describe(operation) });
    }
  }
  return found;
});

const describe = ({ security = [], responses }: Pick<Operation, 'security' | 'responses'>) => {
  const success = responses['200'] ?? responses['201'] ?? responses['202'];
  return {
    roles: security.length === 0 ? undefined : security.flatMap(({ bearer = [] }) => bearer),
    response: success?.content?.['application/json']?.schema,
  };
};

/** Mounted route; undefined if its profile is not mounted. */
export const findRoute = (name: RouteName): MountedRoute | undefined => routes.value.get(name);

export const isMounted = (name: RouteName): boolean => findRoute(name) !== undefined;

/** True if the current user may use the route, or could after logging in. False if the route is not mounted. */
export const isAllowed = (name: RouteName): boolean => {
  const route = findRoute(name);
  if (!route) return false;
  return !route.roles || session.value === undefined || route.roles.includes(session.value.role);
};

/** True if the route is mounted and the current user has access without logging in again. */
export const isReadable = (name: RouteName): boolean =>
  isAllowed(name) && (!findRoute(name)?.roles || session.value !== undefined);

/**
 * Returns the first place where a value does not match the server's schema, such as `.data[3].level`; undefined if the
 * value is valid.
 */
export const findMismatch = (value: unknown, schema: Schema | undefined): string | undefined => {
  if (!schema) return undefined;
  const { $ref, anyOf, type, properties = {}, required = [], items } = schema;
  if ($ref) return findMismatch(value, openApi.peek()?.components.schemas[$ref.split('/').at(-1) ?? '']);
  if (anyOf) return anyOf.some((each) => findMismatch(value, each) === undefined) ? undefined : '';
  if (type && !isOfType(value, type)) return '';
  if (type === 'array' && items) {
    for (const [index, each] of (value as unknown[]).entries()) {
      const place = findMismatch(each, items);
      if (place !== undefined) return `[${index}]${place}`;
    }
  }
  if (type !== 'object') return undefined;
  const members = value as Record<string, unknown>;
  for (const name of new Set([...required, ...Object.keys(properties)])) {
    const isOptional = members[name] === undefined && !required.includes(name);
    const place = isOptional ? undefined : findMismatch(members[name], properties[name]);
    if (place !== undefined) return `.${name}${place}`;
  }
  return undefined;
};

const isOfType = (value: unknown, type: string): boolean => {
  if (type === 'null' || value === null) return type === 'null' && value === null;
  if (type === 'array' || Array.isArray(value)) return type === 'array' && Array.isArray(value);
  return typeof value === (type === 'integer' ? 'number' : type);
};
