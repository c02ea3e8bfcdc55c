import { lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import Type from 'typebox';
import { isLike } from '../lib/wildcards.ts';
import { Slots } from './slots.ts';

/** Addresses of cloud metadata services. These services reveal secrets. Link-local addresses are handled separately. */
const metadata = ['100.100.100.200/32', '192.0.0.192/32', '168.63.129.16/32', 'fd00:ec2::254/128', 'fd20:ce::254/128'];
const forbidden = ['169.254.0.0/16', 'fe80::/10', ...metadata].map((range) => ipaddr.parseCIDR(range));

/** Setting of features that send requests to addresses from runtime settings. */
export const reachSettings = {
  watchTargets: Type.Array(Type.String({ minLength: 1 }), {
    default: [],
    description:
      'Addresses, CIDR blocks and host names that watches and runtime destinations can reach; by default all except link-local addresses and cloud metadata.',
  }),
};

/** Decides which addresses requests from runtime settings can reach. */
export interface Reach {
  /** Throws an UncheckedAddress for a forbidden address. Names are checked by `lookup`. */
  assertHost(host: string): void;
  /** Lookup for sockets that returns only allowed addresses. */
  lookup: LookupFunction;
}

/** Reach with entries that can change. */
export interface ChangingReach extends Reach {
  change(entries: readonly string[]): void;
}

type Address = ReturnType<typeof ipaddr.parse>;
type Range = ReturnType<typeof ipaddr.parseCIDR>;

const isWithin = (address: Address, [network, bits]: Range): boolean =>
  address.kind() === network.kind() && address.match(network as never, bits);

/** IPv6 blocks that embed an IPv4 address, with the position of its first byte: NAT64, SIIT, 6to4. */
const translated: [block: Range, start: number][] = [
  [ipaddr.parseCIDR('64:ff9b::/96'), 12],
  [ipaddr.parseCIDR('64:ff9b:1::/48'), 12],
  [ipaddr.parseCIDR('::ffff:0:0:0/96'), 12],
  [ipaddr.parseCIDR('2002::/16'), 2],
];

/** Returns the address that a connection actually reaches: the embedded IPv4 address if an IPv6 address has one. */
const toReached = (text: string): Address => {
  const address = ipaddr.process(text.replace(/%.*$/, ''));
  const [, start] = translated.find(([block]) => isWithin(address, block)) ?? [];
  return start === undefined ? address : ipaddr.fromByteArray(address.toByteArray().slice(start, start + 4));
};

/** Parses an entry of `watchTargets`: an address, a CIDR block, or a host name with `*`. */
const parseEntry = (entry: string): Range | string => {
  if (ipaddr.isValidCIDR(entry)) return ipaddr.parseCIDR(entry);
  return isIP(entry) ? ([ipaddr.process(entry), isIP(entry) === 4 ? 32 : 128] as Range) : entry.toLowerCase();
};

/** Returns the problems with entries, as clauses. */
export const findReachProblems = (entries: readonly string[]): string[] =>
  entries.flatMap((entry) => findReachProblem(entry) ?? []);

const findReachProblem = (entry: string): string | undefined =>
  ipaddr.isValidCIDR(entry) || isIP(entry) || /^[a-z0-9*_.-]+$/i.test(entry)
    ? undefined
    : `watchTargets: ${JSON.stringify(entry)} must be an address, a block such as 10.0.0.0/8, or a host name with *`;

/**
 * Creates targets from `watchTargets`. By default, allows all addresses except link-local and cloud metadata addresses.
 */
export const createReach = (entries: readonly string[], resolve: LookupFunction = lookupFew): Reach => {
  const parsed = entries.map(parseEntry);
  const ranges = parsed.filter((entry): entry is Range => typeof entry !== 'string');
  const names = parsed.filter((entry): entry is string => typeof entry === 'string');
  const isNamed = (host: string): boolean => names.some((name) => isLike(host.toLowerCase(), name));
  // True for an address in a listed block. Otherwise false for a forbidden address, and true for a listed name or
  // without entries.
  const isAllowed = (text: string, host: string): boolean => {
    const address = toReached(text);
    if (ranges.some((range) => isWithin(address, range))) return true;
    if (forbidden.some((range) => isWithin(address, range))) return false;
    return entries.length === 0 || isNamed(host);
  };
  const refuse = (host: string): Error =>
    Object.assign(new UncheckedAddress(`${host} is not allowed by watchTargets`), { code: forbiddenAddress });
  return {
    assertHost: (host) => {
      const bare = host.replace(/^\[(.*)\]$/, '$1');
      // If only names are allowed, other names are not even looked up.
      const mayBe = isIP(bare) ? isAllowed(bare, bare) : entries.length === 0 || ranges.length > 0 || isNamed(bare);
      if (!mayBe) throw refuse(bare);
    },
    lookup: (host, options, callback) => {
      resolve(host, { ...options, all: true }, (error, found) => {
        const addresses = Array.isArray(found) ? found : [];
        const allowed = addresses.filter(({ address }) => isAllowed(address, host));
        const [first] = allowed;
        if (error || !first) callback(error ?? refuse(host), '');
        else if (options.all) callback(null, allowed);
        else callback(null, first.address, first.family);
      });
    },
  };
};

/** Creates targets that can change when the settings are reloaded. */
export const openReach = (entries: readonly string[]): ChangingReach => {
  let current = createReach(entries);
  return {
    assertHost: (host) => current.assertHost(host),
    lookup: (...args) => current.lookup(...args),
    change: (changed) => {
      current = createReach(changed);
    },
  };
};

/**
 * Limits lookups, because they use threads that logs also need. An unresponsive name server then blocks two threads
 * instead of all.
 */
const lookups = new Slots(2);
const lookupFew: LookupFunction = (host, options, callback) => {
  const look = () =>
    new Promise<void>((resolve) => {
      systemLookup(host, options, (...found: unknown[]) => {
        resolve();
        (callback as (...all: unknown[]) => void)(...found);
      });
    });
  void lookups.run(look);
};

/** Error code for a forbidden target. */
export const forbiddenAddress = 'FORBIDDEN_TARGET';

/** Error for a target that is forbidden or cannot be resolved, so that its state is unknown. */
export class UncheckedAddress extends Error {}
