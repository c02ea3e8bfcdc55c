import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** An address as some proxies write it: with the client's port, IPv6 in brackets. */
const withPort = /^(?:\[([^\]]*)\](?::\d+)?|(\d+\.\d+\.\d+\.\d+):\d+)$/;

/**
 * The addresses that one client can be expected to hold: an IPv4 address, also if it is mapped into IPv6 (RFC 4291,
 * 2.5.5.2), or an IPv6 /64 (RFC 6177: the smallest network that a site is given). Everything that is not an address
 * is one group, because otherwise each new text would be a new client.
 */
export const toAddressGroup = (ip = ''): string => {
  const [, bracketed, dotted] = withPort.exec(ip) ?? [];
  const address = (bracketed ?? dotted ?? ip).replace(/%.*$/, '');
  const family = isIP(address);
  if (family !== 6) return family === 4 ? address : 'no address';
  const parsed = ipaddr.IPv6.parse(address);
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().toString();
  return `${parsed.toNormalizedString().split(':', 4).join(':')}::/64`;
};
