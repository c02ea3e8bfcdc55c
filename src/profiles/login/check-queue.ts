import { createUnavailable } from '../../http/errors.ts';
import { toAddressGroup } from '../../http/fair-shares.ts';

interface Limits {
  /** Checks at a time. */
  running: number;
  /** Checks that wait; a quarter of these places is kept for addresses that users have logged in from. */
  waiting: number;
  /** Monotonic seconds. */
  now(): number;
}

interface Check {
  group: string;
  isKnown: boolean;
  start(): void;
  refuse(): void;
}

/** Seconds for which a check counts against its address. */
const memory = 10;

const refusal = 'Too many logins are being checked; try again in a second';

/**
 * Divides password checks between addresses (IPv6: networks /64), because a user whose password is right is never delayed, and
 * wrong logins only after some: two addresses that loop logins would keep everyone else out. First comes the address that had
 * the fewest checks lately, of several the one that asked last, since the others may have given up. Every second check is
 * of an address that its user has logged in from last, if one waits. When all places are taken, the check that would come last is
 * refused with 503.
 */
export const createCheckQueue = ({ running: most, waiting: places, now }: Limits) => {
  let running = 0;
  /** Newest first. */
  let line: Check[] = [];
  let isTurnOfKnown = true;
  /** The groups of the checks that were started lately, oldest first. */
  let started: { group: string; at: number }[] = [];

  const note = (group: string): void => {
    const at = now();
    started = [...started.filter((check) => at - check.at < memory), { group, at }];
  };
  /** The waiting checks, the one that comes first first. */
  const rank = (): Check[] => {
    const counts = new Map<string, number>();
    for (const { group } of started) counts.set(group, (counts.get(group) ?? 0) + 1);
    const ranked = line.map((check) => {
      const before = counts.get(check.group) ?? 0;
      counts.set(check.group, before + 1);
      return { check, before };
    });
    ranked.sort((a, b) => a.before - b.before || Number(b.check.isKnown) - Number(a.check.isKnown));
    return ranked.map(({ check }) => check);
  };
  const remove = (check: Check | undefined): void => {
    line = line.filter((other) => other !== check);
  };
  const startNext = (): void => {
    const ranked = rank();
    const known = isTurnOfKnown ? ranked.find(({ isKnown }) => isKnown) : undefined;
    const next = known ?? ranked[0];
    if (!next) {
      running -= 1;
      return;
    }
    isTurnOfKnown = !isTurnOfKnown;
    remove(next);
    note(next.group);
    next.start();
  };
  const refuseLast = (): void => {
    const ranked = rank();
    const kept = ranked.filter(({ isKnown }) => isKnown).slice(0, Math.floor(places / 4));
    const last = ranked.findLast((check) => !kept.includes(check));
    remove(last);
    last?.refuse();
  };
  return {
    /** Runs the check when it is its turn; rejects with 503 if others come first and too many wait. */
    run: async <T>(ip: string | undefined, isKnown: boolean, check: () => Promise<T>): Promise<T> => {
      const group = toAddressGroup(ip);
      if (running < most) {
        running += 1;
        note(group);
      } else {
        await new Promise<void>((start, reject) => {
          line = [{ group, isKnown, start, refuse: () => reject(createUnavailable(refusal, 'queue')) }, ...line];
          if (line.length > places) refuseLast();
        });
      }
      try {
        return await check();
      } finally {
        startNext();
      }
    },
  };
};
