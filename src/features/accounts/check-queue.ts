import { createQueue, type QueuedTask } from '../../http/overload.ts';

/**
 * Maximum number of password checks at a time. Hashing shares a few threads with file syncs, so more checks would delay
 * the responses to alerts.
 */
const maxChecks = { running: 2, waiting: 8 };

/** Seconds for which a check counts against its address. */
const checkMemory = 10;

/** Password check from an address group. `isKnown` if the user last logged in from this group. */
interface PasswordCheck {
  group: string;
  isKnown: boolean;
}

type WaitingCheck = QueuedTask<PasswordCheck>;

/**
 * Creates a queue that divides password checks fairly between addresses (IPv6: /64 networks). Correct passwords are
 * never delayed. Wrong passwords are delayed only after some attempts. Without fair shares, two addresses that loop
 * logins would keep everyone else out. The address with the fewest recent checks goes first. Among equals, the newest
 * check goes first, because older clients may have given up. Every second check goes to an address from which its user
 * last logged in. A quarter of the places are reserved for such addresses. When all places are taken, the last check in
 * this order is refused with 503. `now` is in seconds and monotonic.
 */
export const createCheckQueue = (now: () => number) => {
  let isTurnOfKnown = true;
  /** Recently started checks with their address groups, oldest first. */
  let started: { group: string; at: number }[] = [];
  /** Returns the waiting checks in the order in which they will run. */
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
    ...maxChecks,
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
      const reserved = ranked.filter(isKnown).slice(0, Math.floor(maxChecks.waiting / 4));
      return ranked.findLast((check) => !reserved.includes(check)) as WaitingCheck;
    },
  });
};
