import { computed, signal } from '@preact/signals';
import type { Host, HostEvent } from 'signalbox/client';
import { listHostNames, mapHostOwners } from '../../src/kit/host-names.ts';
import { client } from '../api.ts';
import { isReadable } from '../routes.ts';
import { type Resource, useResource } from './resource.ts';

/** Milliseconds for which events are collected. Each host reports every ten seconds. */
const batch = 1000;

/** All hosts, by name. Updated by `useKnownHosts`. */
export const knownHosts = signal<Resource<readonly Host[] | undefined>>({
  value: undefined,
  error: undefined,
  reload: () => undefined,
  reloadSoon: () => undefined,
});

/** True if there are hosts besides this server. The server itself is also a host. */
export const hasHosts = computed(() => (knownHosts.value.value?.length ?? 0) > 1);

/** Follows hosts while the app component is shown. Events contain whole hosts, so nothing is reloaded. */
export const useKnownHosts = (): void => {
  knownHosts.value = useResource<readonly Host[] | undefined, 'hosts'>(loadHosts, { topic: 'hosts', apply, batch });
};

/** Resolves to undefined before the login, because an empty list would mean that there are no hosts. */
const loadHosts = async (signal: AbortSignal): Promise<readonly Host[] | undefined> =>
  isReadable('listHosts') ? (await client.listHosts(undefined, { signal })).data : undefined;

const apply = (
  { isDeleted, ...changed }: HostEvent,
  before: readonly Host[] | undefined,
): readonly Host[] | undefined => {
  if (!before) return before;
  if (isDeleted) return before.filter(({ name }) => name !== changed.name);
  const index = before.findIndex(({ name }) => name === changed.name);
  return index < 0 ? [...before, changed] : before.with(index, changed);
};

/** Hosts by their names and aliases. */
const owners = computed(() => mapHostOwners(knownHosts.value.value ?? []));

/** Lists the names used for a host in alerts, in lower case. */
export const listNames = (host: Host): string[] => listHostNames(host, host.hostname, owners.value);

/** Hosts by the host names in their alerts. */
const byName = computed(() => {
  const hosts = hasHosts.value ? (knownHosts.value.value ?? []) : [];
  return new Map(hosts.flatMap((host) => listNames(host).map((name) => [name, host.name] as const)));
});

/** Returns the name of the host that alerts call by this host name. Undefined for any other machine. */
export const findHost = (hostname: string): string | undefined => byName.value.get(hostname.toLowerCase());
