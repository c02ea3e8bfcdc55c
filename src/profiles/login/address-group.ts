import { isIP } from 'node:net';

/** How some proxies tell an address: with the port that it came from, an IPv6 one in brackets. */
const withPort = /^(?:\[([^\]]*)\](?::\d+)?|(\d+\.\d+\.\d+\.\d+):\d+)$/;

/** What is told as an address and is none, whatever it is: otherwise each new text would be a new client. */
const noAddress = 'no address';

/**
 * What one client can be expected to hold: an IPv4 address, or the first 64 bits of an IPv6 address (RFC 6177: the
 * smallest network that a site is given). An IPv4 address within IPv6 (RFC 4291, 2.5.5.2) counts as the former.
 */
export const toAddressGroup = (ip: string): string => {
  const [, bracketed, dotted] = withPort.exec(ip) ?? [];
  const address = (bracketed ?? dotted ?? ip).toLowerCase().replace(/%.*$/, '');
  if (isIP(address) !== 6) return isIP(address) === 4 ? address : noAddress;
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
