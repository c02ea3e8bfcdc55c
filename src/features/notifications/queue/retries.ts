import { type FailedOutcome, mayBeMessage } from './outcome.ts';

/** Seconds to wait after the first failed attempts. */
const firstSeconds = [1, 2, 5, 10, 20, 30];

const minute = 60;
const hour = 60 * minute;

/** Attempts that are a minute apart, until about an hour has passed; later ones are five minutes apart. */
const minuteAttempts = 60;

/**
 * Seconds to wait after requests without a response, whose receiver may have the message: few repeats, and late ones, since
 * each may reach people again.
 */
const unansweredSeconds = [2 * minute, 10 * minute, 30 * minute];

/** The share of a wait that chance adds, so that many senders do not come back together. */
const jitter = 0.1;

/** Where `retrySeconds` replace the waits, a destination that the receiver refuses is tried no more often than this. */
const leastRejectedSeconds = 1;

/** A destination that fails for this long is reported as failing, or for this share of the promise if that is less. */
const failingMs = 15 * minute * 1000;
const failingShare = 0.1;

const defaultGiveUpHours = 24;

/** What waits is given up no sooner than this after its first failure, although signalbox may have been off for long. */
const leastTriedMs = 60 * 60 * 1000;

export type Schedule = ReturnType<typeof createSchedule>;

/** When a destination tries again, and when it gives up: by the hours of the promise, or after `retrySeconds`. */
export const createSchedule = ({
  retrySeconds,
  giveUpHours,
}: {
  retrySeconds?: readonly number[];
  giveUpHours?: number;
}) => {
  const giveUpMs = toGiveUpSeconds(retrySeconds, giveUpHours) * 1000;
  const lastSeconds = retrySeconds?.at(-1) ?? 0;
  return {
    /** Milliseconds to wait after so many failed attempts, with some chance in them. */
    waitAfter: (attempts: number): number =>
      toWait(retrySeconds ? (retrySeconds[attempts - 1] ?? lastSeconds) : toUsualSeconds(attempts)),
    /** The same for one that the receiver may have. */
    waitAfterUnanswered: (attempts: number): number =>
      toWait(retrySeconds ? (retrySeconds[attempts - 1] ?? lastSeconds) : (unansweredSeconds[attempts - 1] ?? hour)),
    /** The same, if the receiver refuses the destination. */
    waitAfterRejected: (attempts: number): number =>
      toWait(
        retrySeconds
          ? Math.max(lastSeconds, leastRejectedSeconds)
          : toUsualSeconds(Math.max(attempts, firstSeconds.length + 1)),
      ),
    /** A message with so many failed attempts is given up, and one that waits for so many milliseconds. */
    mostAttempts: retrySeconds ? retrySeconds.length + 1 : Number.POSITIVE_INFINITY,
    giveUpMs,
    /** After so many milliseconds without a delivery a destination is failing. */
    failingMs: Math.min(failingMs, giveUpMs * failingShare),
  };
};

/** Long `retrySeconds` make the promise longer, unless it is set. */
const toGiveUpSeconds = (retrySeconds: readonly number[] = [], giveUpHours?: number): number => {
  if (giveUpHours !== undefined) return giveUpHours * hour;
  const longest = retrySeconds.reduce((sum, seconds) => sum + seconds, 0) * (1 + jitter);
  return Math.max(defaultGiveUpHours * hour, longest);
};

const toUsualSeconds = (attempts: number): number =>
  firstSeconds[attempts - 1] ?? (attempts <= firstSeconds.length + minuteAttempts ? minute : 5 * minute);

const toWait = (seconds: number): number => seconds * 1000 * (1 + Math.random() * jitter);

/** How a message was tried so far, and when it is tried again. */
export interface Tries {
  /** Failed attempts. */
  attempts: number;
  /** How often it was rejected, since startup. */
  rejections: number;
  /** Attempts without a response: the receiver may have it, so it is not tried before it is due. */
  unanswered: number;
  /** When it was first tried in vain, or held back, since startup; Unix milliseconds. */
  failingSince: number | undefined;
  /** Failed attempts that may be its fault, since the receiver last recovered: those with fewer come first. */
  suspicion: number;
  /** When it may be tried again, by the monotonic clock. */
  dueAt: number;
  /** It was tried before it was due; that is done once between two regular attempts. */
  isEarly: boolean;
  /** Why the last attempt failed. */
  error: string | null;
}

/** Notes why an attempt failed, and whether the message may be at fault. */
export const blame = (one: Tries, outcome: FailedOutcome, now: number): void => {
  one.error = outcome.reason;
  one.failingSince ??= now;
  if (mayBeMessage(outcome)) one.suspicion += 1;
  if (outcome.kind === 'rejected') one.rejections += 1;
};

/** Says when a message that failed is tried again; returns whether no attempt is left. */
export const postpone = (one: Tries, outcome: FailedOutcome, schedule: Schedule): boolean => {
  const time = performance.now();
  // An attempt before its time counts only if it succeeds.
  if (one.isEarly && one.dueAt > time) return false;
  one.isEarly = false;
  if (outcome.kind === 'rejected') {
    one.dueAt = time + schedule.waitAfterRejected(one.rejections);
    return false;
  }
  one.attempts += 1;
  if (outcome.isUnanswered) {
    one.unanswered += 1;
    one.dueAt = time + schedule.waitAfterUnanswered(one.unanswered);
  } else if (outcome.mayBeMessage) one.dueAt = time + schedule.waitAfter(one.attempts);
  return one.attempts >= schedule.mostAttempts;
};

/** Whether a message has waited for as long as is promised. `troubleSince`: since when the receiver accepts nothing. */
export const isPromiseOver = (
  {
    receivedAt,
    askedAt = receivedAt,
    failingSince,
  }: Pick<Tries, 'failingSince'> & { receivedAt: number; askedAt?: number | undefined },
  { giveUpMs }: Schedule,
  now: number,
  troubleSince = now,
): boolean => now >= Math.max(askedAt + giveUpMs, (failingSince ?? troubleSince) + Math.min(giveUpMs, leastTriedMs));

/** Why it was given up. */
export const toGivenUp = (reason: string, { giveUpMs }: Schedule): string =>
  `${reason}; given up after ${Number((giveUpMs / 3_600_000).toPrecision(3))} h`;
