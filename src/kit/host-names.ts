interface NamedHost {
  name: string;
  aliases: readonly string[];
}

/** Hosts by their names and aliases in lower case, which no two hosts share. */
export type HostOwners = ReadonlyMap<string, string>;

export const mapHostOwners = (hosts: readonly NamedHost[]): HostOwners =>
  new Map(hosts.flatMap(({ name, aliases }) => [name, ...aliases].map((each) => [each.toLowerCase(), name] as const)));

/**
 * Lists the values of `hostname` in alerts about a host, in lower case. The host name that its machine reports counts
 * only if it is not the name or an alias of another host.
 */
export const listHostNames = (
  { name, aliases }: NamedHost,
  reported: string | null | undefined,
  owners: HostOwners,
): string[] => {
  const own = [name, ...aliases].map((each) => each.toLowerCase());
  const hostname = reported?.toLowerCase() || name.toLowerCase();
  return own.includes(hostname) || owners.has(hostname) ? own : [...own, hostname];
};
