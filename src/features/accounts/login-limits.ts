import { toAddressGroup } from '../../http/fair-shares.ts';

export interface AttemptLimits {
  /** Number of wrong logins from an address before further logins from it are delayed. 0 for no limit. */
  perAddress: number;
  /**
   * Number of wrong logins per hour for one user after which addresses with wrong logins are delayed. 0 for no limit.
   */
  perUser: number;
  /**
   * Number of wrong logins per hour for all users together after which addresses with wrong logins are delayed. 0 for
   * no limit.
   */
  inTotal: number;
  /** Longest delay in seconds. */
  maxDelay: number;
}

/** Login with a checked password. */
export interface CheckedLogin {
  ip: string | undefined;
  user: string | undefined;
  isRight: boolean;
  /** Seconds since the check. */
  age: number;
}

/** Recent logins from an address group. */
interface LoginAddress {
  /** Wrong logins by user. The key undefined stands for all unknown users together. */
  wrong: Map<string | undefined, number>;
  /** Time of the last wrong login in seconds. */
  lastWrong: number;
  /** Logins being checked. */
  pending: number;
}

export type LoginLimits = ReturnType<typeof createLoginLimits>;

/** Maximum number of addresses in memory. The address whose last failure is oldest is dropped first. */
const maxAddresses = 10_000;

/** Seconds after its last wrong login at which an address is forgotten. */
const addressMemory = 3600;

/** Seconds of the first delay. Each further wrong login doubles the delay. */
const firstDelay = 10;

/** Longest delay, in seconds, that other clients can cause. It also affects users who mistyped once. */
const maxSharedDelay = 30;

/**
 * Creates limits that slow down guessing without locking anyone out. An address without wrong logins is never delayed.
 * An address with wrong logins waits for the longest of its delays, counted from its last wrong login. `now` is in
 * seconds and monotonic. `reportDelayed` is called when an address has used up its free attempts.
 */
export const createLoginLimits = (
  limits: AttemptLimits,
  now: () => number,
  reportDelayed: (ip: string | undefined) => void,
) => {
  /** Addresses, ordered by the time of their last wrong login. */
  const addresses = new Map<string, LoginAddress>();
  const shared = createSharedDelay(limits, now);
  const isOld = ({ pending, lastWrong }: LoginAddress) => pending === 0 && now() - lastWrong > addressMemory;
  const read = (group: string): LoginAddress => {
    const address = addresses.get(group);
    return address && !isOld(address) ? address : { wrong: new Map(), lastWrong: now(), pending: 0 };
  };
  /** Stores an address as the most recent one. */
  const keep = (group: string, address: LoginAddress): void => {
    addresses.delete(group);
    addresses.set(group, address);
    for (const [oldest, other] of addresses) {
      if (addresses.size <= maxAddresses && !isOld(other)) break;
      addresses.delete(oldest);
    }
  };
  const dropIfEmpty = (group: string, { pending, wrong }: LoginAddress): void => {
    if (pending === 0 && wrong.size === 0) addresses.delete(group);
  };
  const addWrong = (group: string, user: string | undefined, address: LoginAddress, at: number): void => {
    address.wrong.set(user, (address.wrong.get(user) ?? 0) + 1);
    address.lastWrong = at;
    keep(group, address);
    shared.add(user);
  };
  const forget = (user: string | undefined, { wrong }: LoginAddress): boolean => {
    const hadKnown = wrong.delete(user);
    return wrong.delete(undefined) || hadKnown;
  };
  return {
    /**
     * Begins an attempt. If the address is delayed, returns the seconds to wait instead. `user` is undefined for an
     * unknown user.
     */
    begin: (ip: string | undefined, user: string | undefined) => {
      const group = toAddressGroup(ip);
      const address = read(group);
      const wrong = countWrong(address);
      const own = toDelay(wrong, limits.perAddress, limits.maxDelay);
      const delay = wrong === 0 ? 0 : Math.max(own, shared.read(user));
      const elapsed = now() - address.lastWrong;
      if (elapsed < delay) return Math.ceil(delay - elapsed);
      if (address.pending >= countPlaces(limits.perAddress, wrong, delay)) return 1;
      address.pending += 1;
      keep(group, address);
      return {
        /** Counts a wrong password or an unknown user. */
        fail: (): void => {
          addWrong(group, user, address, now());
          if (countWrong(address) === limits.perAddress) reportDelayed(ip);
        },
        /** Forgets the wrong logins for this user and for unknown users. Returns true if there were any. */
        succeed: (): boolean => forget(user, address),
        /** Ends the check, regardless of its outcome. */
        end: (): void => {
          address.pending -= 1;
          dropIfEmpty(group, address);
        },
      };
    },
    /** Counts a login checked by another instance. */
    learn: ({ ip, user, isRight, age }: CheckedLogin): void => {
      const group = toAddressGroup(ip);
      const address = read(group);
      if (!isRight) addWrong(group, user, address, now() - age);
      else {
        forget(user, address);
        dropIfEmpty(group, address);
      }
    },
  };
};

const countWrong = ({ wrong }: LoginAddress): number => [...wrong.values()].reduce((sum, count) => sum + count, 0);

/**
 * Returns the number of logins from an address that may be checked at the same time, assuming that all of them are
 * wrong.
 */
const countPlaces = (free: number, wrong: number, delay: number): number => {
  if (delay > 0) return 1;
  return free === 0 ? Number.POSITIVE_INFINITY : free - wrong;
};

/**
 * Returns the seconds to wait after `wrong` logins. The first `free` of them are not delayed. No delay if `free` is 0.
 */
const toDelay = (wrong: number, free: number, longest: number): number =>
  free === 0 || wrong < free ? 0 : Math.min(longest, firstDelay * 2 ** (wrong - free));

/** Creates the delays that wrong logins from all addresses within the last hour cause, for one user and in total. */
const createSharedDelay = (limits: AttemptLimits, now: () => number) => {
  const users = new Map<string, HourlyCount>();
  const total = createHourlyCount(now);
  const longest = Math.min(maxSharedDelay, limits.maxDelay);
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

/** Counts events per hour. An hour begins with its first event. */
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
