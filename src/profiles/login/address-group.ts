import { isIP } from 'node:net';

/**
 * What one client can be expected to hold: an IPv4 address, or the first 64 bits of an IPv6 address (RFC 6177: the
 * smallest network that a site is given). An IPv4 address within IPv6 (RFC 4291, 2.5.5.2) counts as the former.
 */
export const toAddressGroup = (ip: string): string => {
  const address = ip.toLowerCase().replace(/%.*$/, '');
  if (isIP(address) !== 6) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(address)?.[1];
  return mapped ?? `${toGroups(address).slice(0, 4).join(':')}::/64`;
};

/** The sixteen-bit groups of an IPv6 address without leading zeros, those that `::` stands for included. */
const toGroups = (address: string): string[] => {
  const [head = [], tail] = address
    .split('::')
    .map((part) => part.split(':').filter((group) => group !== ''));
  const missing = tail ? 8 - head.length - tail.length : 0;
  return [...head, ...Array.from({ length: missing }, () => '0'), ...(tail ?? [])].map((group) =>
    group.replace(/^0+(?=.)/, ''),
  );
};
