import type { Role } from './token.ts';

/** Scopes of keys. */
export const scopes = [
  'alerts:write',
  'alerts:read',
  'metrics:read',
  'incidents:write',
  'incidents:read',
  'heartbeats:write',
  'heartbeats:create',
  'hosts:report',
  'hosts:create',
] as const;
export type Scope = (typeof scopes)[number];

/** Roles and scopes that have a right. A key needs only one of the scopes. The first scope is the narrowest. */
interface Holders {
  /** Text that completes "may …" in documents. */
  title: string;
  roles: readonly Role[];
  scopes: readonly Scope[];
}

const people: readonly Role[] = ['Admin', 'Reader'];
const admins: readonly Role[] = ['Admin'];
const keysOnly: readonly Role[] = [];

/**
 * Table of rights. No other place decides what roles and scopes may do. A Reader is somebody who can be on call. The
 * guard, the scopes of keys, the OpenAPI document, the console and the tables in the documents are derived from this
 * table.
 */
export const rights = {
  'alerts:write': { title: 'send alerts', roles: people, scopes: ['alerts:write', 'hosts:report'] },
  'alerts:read': { title: 'read alerts', roles: people, scopes: ['alerts:read', 'incidents:write'] },
  'incidents:read': {
    title: 'read incidents, silences, heartbeats and on-call shifts',
    roles: people,
    scopes: ['incidents:read', 'incidents:write'],
  },
  'incidents:write': {
    title: 'act on incidents and silences, and swap shifts',
    roles: people,
    scopes: ['incidents:write'],
  },
  'tasks:read': { title: 'read tasks', roles: people, scopes: ['incidents:read', 'incidents:write'] },
  'tasks:write': { title: 'create, change and delete tasks', roles: people, scopes: ['incidents:write'] },
  'items:read': { title: 'read items, simple tasks and the protected list of tasks', roles: people, scopes: [] },
  'items:write': { title: 'create items and simple tasks', roles: people, scopes: [] },
  'machine:read': { title: 'read the state and the history of the machine', roles: people, scopes: [] },
  'metrics:read': { title: 'read the metrics', roles: people, scopes: ['metrics:read'] },
  'events:read': {
    title: 'follow changes; each topic needs its own right',
    roles: people,
    scopes: ['alerts:read', 'incidents:read', 'incidents:write'],
  },
  'watches:read': { title: 'read watches', roles: people, scopes: ['incidents:read', 'incidents:write'] },
  'notifications:read': { title: 'read destinations, without secrets, and notifications', roles: people, scopes: [] },
  'settings:read': { title: 'read intake formats, commands, instances and the version', roles: people, scopes: [] },
  'heartbeats:ping': {
    title: 'ping heartbeats by name',
    roles: people,
    scopes: ['heartbeats:write', 'heartbeats:create'],
  },
  'heartbeats:create': {
    title: 'create heartbeats by a ping with `?create=1`',
    roles: admins,
    scopes: ['heartbeats:create'],
  },
  'hosts:read': {
    title: 'read the hosts that report to this server',
    roles: people,
    scopes: ['incidents:read', 'incidents:write'],
  },
  'hosts:report': { title: 'report as the host with the name of the key', roles: keysOnly, scopes: ['hosts:report'] },
  'hosts:create': { title: 'create codes that enrol hosts', roles: admins, scopes: ['hosts:create'] },
  'account:own': {
    title: 'list, renew and end their own sessions, and change their own password and contact methods',
    roles: people,
    scopes: [],
  },
  'settings:write': {
    title: 'change watches, heartbeats, destinations, escalation policies and intake formats, and repeat deliveries',
    roles: admins,
    scopes: [],
  },
  'commands:run': { title: 'run commands', roles: admins, scopes: [] },
  'accounts:manage': { title: 'list and change users and keys', roles: admins, scopes: [] },
  'audit:read': { title: 'read the audit of settings and commands', roles: admins, scopes: [] },
} as const satisfies Record<string, Holders>;

export type Right = keyof typeof rights;

/** True if users with the role have the right. */
export const hasRole = (right: Right, role: Role): boolean => rights[right].roles.includes(role);

/** True if a key with these scopes has the right. */
export const hasScope = (right: Right, given: readonly Scope[]): boolean => {
  const { scopes: accepted }: Holders = rights[right];
  return accepted.some((scope) => given.includes(scope));
};

/** Returns the scopes that grant a key the right. A key needs only one of them. Empty if no key can have the right. */
export const scopesOf = (right: Right): readonly Scope[] => rights[right].scopes;

/** Names of rights, in table order. */
export const rightNames = Object.keys(rights) as Right[];
