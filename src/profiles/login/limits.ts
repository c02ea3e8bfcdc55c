import { type Address, createAddressTable } from './address-table.ts';
import { toDelay } from './delay.ts';
import { createSharedDelay } from './shared-delay.ts';

export interface Limits {
  /** Wrong logins from an address after which each further one is delayed; 0 is no limit. */
  perAddress: number;
  /** Wrong logins for a user within an hour after which addresses that fail are delayed; 0 is no limit. */
  perUser: number;
  /** The same for all users together. */
  inTotal: number;
  /** Longest delay in seconds. */
  maxDelay: number;
}

/** A login that is being checked. */
interface Attempt {
  /** The password is wrong, or nobody has the name. */
  fail(): void;
  /** The password is right: what went wrong for this user, or for no user, at this address is forgotten. */
  succeed(): void;
  /** The check is over, whatever came of it. */
  end(): void;
}

export interface LoginLimits {
  /** Lets a login go on, or says for how many seconds it has to wait. A name that nobody has is undefined. */
  begin(ip: string, user: string | undefined): Attempt | number;
}

/** Addresses that are remembered at a time. */
const maxAddresses = 10_000;

/**
 * Slows guessing down and locks nobody out. What others do never keeps an address out that has not failed itself;
 * one that has failed waits, from its own last failure, for the longest of the delays. `now` is in seconds and never
 * goes back. `tellDelayed` is called when an address has used up what it may get wrong.
 */
export const createLoginLimits = (
  limits: Limits,
  now: () => number,
  tellDelayed: (ip: string) => void,
): LoginLimits => {
  const addresses = createAddressTable(now, maxAddresses);
  const shared = createSharedDelay(limits, now);
  const createAttempt = (ip: string, user: string | undefined, address: Address): Attempt => ({
    fail: () => {
      address.wrong.set(user, (address.wrong.get(user) ?? 0) + 1);
      address.lastWrong = now();
      addresses.keep(ip, address);
      shared.add(user);
      if (countWrong(address) === limits.perAddress) tellDelayed(ip);
    },
    succeed: () => {
      address.wrong.delete(user);
      address.wrong.delete(undefined);
    },
    end: () => {
      address.pending -= 1;
      addresses.dropIfEmpty(ip, address);
    },
  });
  return {
    begin: (ip, user) => {
      const address = addresses.read(ip);
      const wrong = countWrong(address);
      const own = toDelay(wrong, limits.perAddress, limits.maxDelay);
      const delay = wrong === 0 ? 0 : Math.max(own, shared.read(user));
      const elapsed = now() - address.lastWrong;
      if (elapsed < delay) return Math.ceil(delay - elapsed);
      if (address.pending >= toPlaces(limits.perAddress, wrong, delay)) return 1;
      address.pending += 1;
      addresses.keep(ip, address);
      return createAttempt(ip, user, address);
    },
  };
};

const countWrong = ({ wrong }: Address): number => [...wrong.values()].reduce((sum, count) => sum + count, 0);

/** How many logins of an address may be checked at once: all of them may turn out wrong. */
const toPlaces = (free: number, wrong: number, delay: number): number => {
  if (delay > 0) return 1;
  return free === 0 ? Number.POSITIVE_INFINITY : free - wrong;
};
