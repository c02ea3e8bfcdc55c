import { toDelay } from './delay.ts';

interface SharedLimits {
  perUser: number;
  inTotal: number;
  maxDelay: number;
}

interface SharedDelay {
  /** Counts a wrong login; a name that nobody has is undefined. */
  add(user: string | undefined): void;
  /** Seconds that an address which has failed must wait for what went wrong everywhere. */
  read(user: string | undefined): number;
}

/** Longest delay in seconds: who merely mistyped has to wait it out while somebody else is guessing. */
const longestDelay = 30;

/** Counts wrong logins of the hour from all addresses, for each user that there is and for all together. */
export const createSharedDelay = (limits: SharedLimits, now: () => number): SharedDelay => {
  const users = new Map<string, HourlyCount>();
  const total = createHourlyCount(now);
  const longest = Math.min(longestDelay, limits.maxDelay);
  return {
    add: (user) => {
      total.add();
      if (user === undefined) return;
      const count = users.get(user) ?? createHourlyCount(now);
      users.set(user, count);
      count.add();
    },
    read: (user = '') =>
      Math.max(
        toDelay(total.read(), limits.inTotal, longest),
        toDelay(users.get(user)?.read() ?? 0, limits.perUser, longest),
      ),
  };
};

interface HourlyCount {
  add(): void;
  read(): number;
}

/** How often something happened in the hour that began with the first time. */
const createHourlyCount = (now: () => number): HourlyCount => {
  let count = 0;
  let since = 0;
  const read = (): number => (now() - since < 3600 ? count : 0);
  return {
    read,
    add: () => {
      count = read() + 1;
      if (count === 1) since = now();
    },
  };
};
