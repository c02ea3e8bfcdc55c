import { type Address, createAddressTable } from './address-table.ts';

export interface Limits {
  /** Wrong logins from an address after which further ones are delayed; 0 means no limit. */
  perAddress: number;
  /** Wrong logins for a user within an hour after which addresses that fail are delayed; 0 means no limit. */
  perUser: number;
  /** The same for all users together. */
  inTotal: number;
  /** Longest delay in seconds. */
  maxDelay: number;
}

/** A login whose password was right or wrong. An unknown user is undefined. */
export interface CheckedLogin {
  ip: string | undefined;
  user: string | undefined;
  isRight: boolean;
  /** Seconds since then. */
  age: number;
}

export type LoginLimits = ReturnType<typeof createLoginLimits>;

/** Addresses that are remembered at a time. */
const maxAddresses = 10_000;

/** Seconds of the first delay; each further wrong login doubles it. */
const firstDelay = 10;

/** Longest delay in seconds caused by other clients: a user who only mistyped has to wait for it. */
const longestSharedDelay = 30;

/**
 * Slows down guessing without locking anyone out. An address without wrong logins is never delayed; one that has failed
 * waits, from its own last wrong login, for the longest of the delays. `now` is in seconds and monotonic.
 * `reportDelayed` is called when an address has no free attempts left.
 */
export const createLoginLimits = (
  limits: Limits,
  now: () => number,
  reportDelayed: (ip: string | undefined) => void,
) => {
  const addresses = createAddressTable(now, maxAddresses);
  const shared = createSharedDelay(limits, now);
  const addWrong = (ip: string | undefined, user: string | undefined, address: Address, at: number): void => {
    address.wrong.set(user, (address.wrong.get(user) ?? 0) + 1);
    address.lastWrong = at;
    addresses.keep(ip, address);
    shared.add(user);
  };
  const forget = (user: string | undefined, { wrong }: Address): boolean => {
    const hadKnown = wrong.delete(user);
    return wrong.delete(undefined) || hadKnown;
  };
  /** A login that is being checked. */
  const createAttempt = (ip: string | undefined, user: string | undefined, address: Address) => ({
    /** The password is wrong, or the user unknown. */
    fail: (): void => {
      addWrong(ip, user, address, now());
      if (countWrong(address) === limits.perAddress) reportDelayed(ip);
    },
    /**
     * The password is right: the address's wrong logins for this user and for unknown users are forgotten. Returns whether
     * there were any.
     */
    succeed: (): boolean => forget(user, address),
    /** The check is over, whatever its outcome. */
    end: (): void => {
      address.pending -= 1;
      addresses.dropIfEmpty(ip, address);
    },
  });
  return {
    /** Starts an attempt, or returns the seconds that it has to wait. An unknown user is undefined. */
    begin: (ip: string | undefined, user: string | undefined) => {
      const address = addresses.read(ip);
      const wrong = countWrong(address);
      const own = toDelay(wrong, limits.perAddress, limits.maxDelay);
      const delay = wrong === 0 ? 0 : Math.max(own, shared.read(user));
      const elapsed = now() - address.lastWrong;
      if (elapsed < delay) return Math.ceil(delay - elapsed);
      if (address.pending >= countPlaces(limits.perAddress, wrong, delay)) return 1;
      address.pending += 1;
      addresses.keep(ip, address);
      return createAttempt(ip, user, address);
    },
    /** Counts a login that another instance has checked so many seconds ago. */
    learn: ({ ip, user, isRight, age }: CheckedLogin): void => {
      const address = addresses.read(ip);
      if (!isRight) addWrong(ip, user, address, now() - age);
      else {
        forget(user, address);
        addresses.dropIfEmpty(ip, address);
      }
    },
  };
};

const countWrong = ({ wrong }: Address): number => [...wrong.values()].reduce((sum, count) => sum + count, 0);

/** How many logins of an address may be checked at once, since all of them may turn out wrong. */
const countPlaces = (free: number, wrong: number, delay: number): number => {
  if (delay > 0) return 1;
  return free === 0 ? Number.POSITIVE_INFINITY : free - wrong;
};

/** Seconds to wait after `wrong` logins of which `free` are not delayed; 0 free ones mean no limit. */
const toDelay = (wrong: number, free: number, longest: number): number =>
  free === 0 || wrong < free ? 0 : Math.min(longest, firstDelay * 2 ** (wrong - free));

/** The delay because of the last hour's wrong logins from all addresses, for one user and for all together. */
const createSharedDelay = (limits: Limits, now: () => number) => {
  const users = new Map<string, HourlyCount>();
  const total = createHourlyCount(now);
  const longest = Math.min(longestSharedDelay, limits.maxDelay);
  return {
    add: (user: string | undefined): void => {
      total.add();
      if (user === undefined) return;
      const count = users.get(user) ?? createHourlyCount(now);
      users.set(user, count);
      count.add();
    },
    read: (user = ''): number =>
      Math.max(
        toDelay(total.read(), limits.inTotal, longest),
        toDelay(users.get(user)?.read() ?? 0, limits.perUser, longest),
      ),
  };
};

type HourlyCount = ReturnType<typeof createHourlyCount>;

/** Counts events of the hour that begins with the first one. */
const createHourlyCount = (now: () => number) => {
  let count = 0;
  let since = 0;
  const read = (): number => (now() - since < 3600 ? count : 0);
  return {
    read,
    add: (): void => {
      count = read() + 1;
      if (count === 1) since = now();
    },
  };
};
