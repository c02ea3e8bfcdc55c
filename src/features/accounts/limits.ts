import { toAddressGroup } from '../../http/fair-shares.ts';
import { createQueue, type QueuedTask } from '../../http/overload.ts';
import { awaitWithin } from '../../lib/scheduling.ts';
import { hourMs } from '../../lib/units.ts';
import type { Statement } from '../../storage/postgres/connection.ts';
import type { Database } from '../../storage/postgres/database.ts';

export interface AttemptLimits {
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
interface CheckedLogin {
  ip: string | undefined;
  user: string | undefined;
  isRight: boolean;
  /** Seconds since then. */
  age: number;
}

/** What the clients at an address have done. */
interface LoginAddress {
  /** Wrong logins by user; those for unknown users are counted together. */
  wrong: Map<string | undefined, number>;
  /** Time of the last wrong login in seconds. */
  lastWrong: number;
  /** Logins that are being checked. */
  pending: number;
}

type LoginLimits = ReturnType<typeof createLoginLimits>;

/** Addresses that are remembered at a time; beyond that, the one that failed longest ago is forgotten. */
const maxAddresses = 10_000;

/** Seconds after the last wrong login until an address is forgotten. */
const addressMemory = 3600;

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
  limits: AttemptLimits,
  now: () => number,
  reportDelayed: (ip: string | undefined) => void,
) => {
  /** In order of the last wrong login, oldest first. */
  const addresses = new Map<string, LoginAddress>();
  const shared = createSharedDelay(limits, now);
  const isOld = ({ pending, lastWrong }: LoginAddress) => pending === 0 && now() - lastWrong > addressMemory;
  const read = (group: string): LoginAddress => {
    const address = addresses.get(group);
    return address && !isOld(address) ? address : { wrong: new Map(), lastWrong: now(), pending: 0 };
  };
  /** Stores an address as the newest. */
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
    /** Starts an attempt, or returns the seconds that it has to wait. An unknown user is undefined. */
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
        /** The password is wrong, or the user unknown. */
        fail: (): void => {
          addWrong(group, user, address, now());
          if (countWrong(address) === limits.perAddress) reportDelayed(ip);
        },
        /** The password is right: wrong logins for this user and for unknown users are forgotten. Returns whether there were any. */
        succeed: (): boolean => forget(user, address),
        /** The check is over, whatever its outcome. */
        end: (): void => {
          address.pending -= 1;
          dropIfEmpty(group, address);
        },
      };
    },
    /** Counts a login that another instance has checked so many seconds ago. */
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

/** How many logins of an address may be checked at once, since all of them may turn out wrong. */
const countPlaces = (free: number, wrong: number, delay: number): number => {
  if (delay > 0) return 1;
  return free === 0 ? Number.POSITIVE_INFINITY : free - wrong;
};

/** Seconds to wait after `wrong` logins of which `free` are not delayed; 0 free ones mean no limit. */
const toDelay = (wrong: number, free: number, longest: number): number =>
  free === 0 || wrong < free ? 0 : Math.min(longest, firstDelay * 2 ** (wrong - free));

/** The delay because of the last hour's wrong logins from all addresses, for one user and for all together. */
const createSharedDelay = (limits: AttemptLimits, now: () => number) => {
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

/** Milliseconds that a login waits for the database: where it cannot be used, each instance counts its own logins. */
const patienceMs = 500;

/** The logins that all instances of a database have checked in the last hour. */
export const createSharedLogins = (database: Database, clock: () => Date, learn: LoginLimits['learn']) => {
  let lastSeq = 0;
  database.expire({ table: 'login', key: 'seq', at: { timestamp: 'at' }, keptMs: hourMs, clock });
  const query = async (statement: Statement) =>
    (await awaitWithin(
      patienceMs,
      database.query(statement).catch(() => []),
    )) ?? [];
  return {
    /** Passes on what other instances have checked since the last time. */
    refresh: async (): Promise<void> => {
      const rows = await query({
        text: `SELECT seq, ip, name, is_right, extract(epoch FROM now() - at)::float8 AS age FROM signalbox.login
          WHERE seq > $1 AND instance <> $2 AND at > now() - interval '1 hour' ORDER BY seq`,
        values: [lastSeq, database.instance],
      });
      for (const { seq, ip, name, is_right: isRight, age } of rows) {
        // Two refreshes may have read it.
        if (seq <= lastSeq) continue;
        lastSeq = seq;
        learn({ ip: ip ?? undefined, user: name ?? undefined, isRight, age });
      }
    },
    /** Tells the other instances. */
    report: async ({ ip, user, isRight }: Omit<CheckedLogin, 'age'>): Promise<void> => {
      await query({
        text: 'INSERT INTO signalbox.login (instance, ip, name, is_right) VALUES ($1, $2, $3, $4)',
        values: [database.instance, ip ?? null, user ?? null, isRight],
      });
    },
  };
};

/** Hashing shares its few threads with syncing files: more checks at a time would delay the acknowledgement of alerts. */
const mostChecks = { running: 2, waiting: 8 };

/** Seconds for which a check counts against its address. */
const checkMemory = 10;

/** A password check, of an address group that its user may have logged in from last. */
interface PasswordCheck {
  group: string;
  isKnown: boolean;
}

type WaitingCheck = QueuedTask<PasswordCheck>;

/**
 * Divides password checks between addresses (IPv6: networks /64), because a user whose password is right is never delayed, and
 * wrong logins only after some: two addresses that loop logins would keep everyone else out. First comes the address that had
 * the fewest checks lately, of several the one that asked last, since the others may have given up. Every second check is
 * of an address that its user has logged in from last, if one waits; a quarter of the places is kept for these. When all
 * places are taken, the check that would come last is refused with 503. `now` is in seconds and monotonic.
 */
export const createCheckQueue = (now: () => number) => {
  let isTurnOfKnown = true;
  /** The groups of the checks that were started lately, oldest first. */
  let started: { group: string; at: number }[] = [];
  /** The waiting checks, the one that comes first first. */
  const rank = (line: readonly WaitingCheck[]): WaitingCheck[] => {
    const counts = new Map<string, number>();
    const count = (group: string): number => {
      const before = counts.get(group) ?? 0;
      counts.set(group, before + 1);
      return before;
    };
    for (const { group } of started) count(group);
    return line
      .toReversed()
      .map((check) => ({ check, before: count(check.about.group) }))
      .sort((a, b) => a.before - b.before || Number(b.check.about.isKnown) - Number(a.check.about.isKnown))
      .map(({ check }) => check);
  };
  const isKnown = ({ about }: WaitingCheck): boolean => about.isKnown;
  return createQueue<PasswordCheck>({
    ...mostChecks,
    refusal: 'Too many logins are being checked; try again in a second',
    noteStart: ({ group }) => {
      const at = now();
      started = [...started.filter((check) => at - check.at < checkMemory), { group, at }];
    },
    chooseNext: (line) => {
      const ranked = rank(line);
      const known = isTurnOfKnown ? ranked.find(isKnown) : undefined;
      isTurnOfKnown = !isTurnOfKnown;
      return known ?? (ranked[0] as WaitingCheck);
    },
    chooseRefused: (line) => {
      const ranked = rank(line);
      const kept = ranked.filter(isKnown).slice(0, Math.floor(mostChecks.waiting / 4));
      return ranked.findLast((check) => !kept.includes(check)) as WaitingCheck;
    },
  });
};
