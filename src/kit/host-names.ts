interface NamedHost {
  name: string;
  aliases: readonly string[];
}

/** Hosts by lower-case name and alias. No two hosts share a name or alias. */
export type HostOwners = ReadonlyMap<string, string>;

export const mapHostOwners = (hosts: readonly NamedHost[]): HostOwners =>
  new Map(hosts.flatMap(({ name, aliases }) => [name, ...aliases].map((each) => [each.toLowerCase(), name] as const)));

/**
 * Lists the values of `hostname` in alerts about a host, in lower case. Includes the host name that the machine
 * reports, unless another host has it as name or alias.
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
