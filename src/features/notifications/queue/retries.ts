import { type FailedOutcome, mayBeMessage } from './outcome.ts';

/** Seconds of backoff after each of the first failed attempts. */
const firstSeconds = [1, 2, 5, 10, 20, 30];

const minute = 60;
const hour = 60 * minute;

/**
 * Number of attempts that are made one minute apart. They last about an hour. Later attempts are made five minutes
 * apart.
 */
const minuteAttempts = 60;

/**
 * Seconds of backoff after requests without a response. The receiver may have got the message, and each repeat may
 * reach people again. Repeats are therefore rare.
 */
const unansweredSeconds = [2 * minute, 10 * minute, 30 * minute];

/** Maximum random share added to a backoff, so that instances do not retry in step. */
const jitter = 0.1;

/** Minimum seconds of backoff with `retrySeconds` after a rejected message. */
const leastRejectedSeconds = 1;

/** Milliseconds without a delivery after which a destination counts as failing. Limited to a share of `giveUpHours`. */
const failingMs = 15 * minute * 1000;
const failingShare = 0.1;

const defaultGiveUpHours = 24;

/**
 * Minimum milliseconds between the first failure of a message and giving it up. Applies even if signalbox was stopped
 * for a long time.
 */
const leastTriedMs = 60 * 60 * 1000;

export type Backoff = ReturnType<typeof createBackoff>;

/** Creates the backoff of a destination, and the limits after which messages are given up. */
export const createBackoff = ({
  retrySeconds,
  giveUpHours,
}: {
  retrySeconds?: readonly number[];
  giveUpHours?: number;
}) => {
  const giveUpMs = toGiveUpSeconds(retrySeconds, giveUpHours) * 1000;
  const lastSeconds = retrySeconds?.at(-1) ?? 0;
  return {
    /** Returns the backoff in milliseconds after a number of failed attempts, with jitter. */
    waitAfter: (attempts: number): number =>
      addJitter(retrySeconds ? (retrySeconds[attempts - 1] ?? lastSeconds) : toUsualSeconds(attempts)),
    /** Returns the backoff in milliseconds for a message that the receiver may have received. */
    waitAfterUnanswered: (attempts: number): number =>
      addJitter(retrySeconds ? (retrySeconds[attempts - 1] ?? lastSeconds) : (unansweredSeconds[attempts - 1] ?? hour)),
    /** Returns the backoff in milliseconds after rejected messages. */
    waitAfterRejected: (attempts: number): number =>
      addJitter(
        retrySeconds
          ? Math.max(lastSeconds, leastRejectedSeconds)
          : toUsualSeconds(Math.max(attempts, firstSeconds.length + 1)),
      ),
    /** Number of failed attempts after which a message is given up. */
    mostAttempts: retrySeconds ? retrySeconds.length + 1 : Number.POSITIVE_INFINITY,
    /** Milliseconds after which a message is given up. */
    giveUpMs,
    /** Milliseconds without a delivery after which the destination counts as failing. */
    failingMs: Math.min(failingMs, giveUpMs * failingShare),
  };
};

/** Converts `giveUpHours` to seconds. The default is at least the sum of `retrySeconds`. */
const toGiveUpSeconds = (retrySeconds: readonly number[] = [], giveUpHours?: number): number => {
  if (giveUpHours !== undefined) return giveUpHours * hour;
  const longest = retrySeconds.reduce((sum, seconds) => sum + seconds, 0) * (1 + jitter);
  return Math.max(defaultGiveUpHours * hour, longest);
};

const toUsualSeconds = (attempts: number): number =>
  firstSeconds[attempts - 1] ?? (attempts <= firstSeconds.length + minuteAttempts ? minute : 5 * minute);

const addJitter = (seconds: number): number => seconds * 1000 * (1 + Math.random() * jitter);

/** Attempts made so far to send a message, and the time of the next attempt. */
export interface Tries {
  /** Number of failed attempts. */
  attempts: number;
  /** Number of rejected attempts since startup. */
  rejections: number;
  /** Number of attempts without a response. The receiver may have received the message, so it is never sent early. */
  unanswered: number;
  /** Time of the first failure since startup, in Unix milliseconds. */
  failingSince: number | undefined;
  /**
   * Number of failures that this message may have caused, counted since the receiver last recovered. Messages with
   * fewer such failures go first.
   */
  possibleFaults: number;
  /** Monotonic time of the next regular attempt. */
  dueAt: number;
  /** True if an early attempt has been made. At most one is made between two regular attempts. */
  isEarly: boolean;
  /** Reason for the last failure. */
  error: string | null;
}

/** Records the reason for a failure, and whether the message may have caused the failure. */
export const recordFailure = (one: Tries, outcome: FailedOutcome, now: number): void => {
  one.error = outcome.reason;
  one.failingSince ??= now;
  if (mayBeMessage(outcome)) one.possibleFaults += 1;
  if (outcome.kind === 'rejected') one.rejections += 1;
};

/** Schedules the next attempt. Returns true if no attempt is left. */
export const postpone = (one: Tries, outcome: FailedOutcome, backoff: Backoff): boolean => {
  const time = performance.now();
  // A failed early attempt does not count.
  if (one.isEarly && one.dueAt > time) return false;
  one.isEarly = false;
  if (outcome.kind === 'rejected') {
    one.dueAt = time + backoff.waitAfterRejected(one.rejections);
    return false;
  }
  one.attempts += 1;
  if (outcome.isUnanswered) {
    one.unanswered += 1;
    one.dueAt = time + backoff.waitAfterUnanswered(one.unanswered);
  } else if (outcome.mayBeMessage) one.dueAt = time + backoff.waitAfter(one.attempts);
  return one.attempts >= backoff.mostAttempts;
};

/** True if a message has waited for `giveUpHours`. `troubleSince` is the start of the period without deliveries. */
export const isOverdue = (
  {
    receivedAt,
    askedAt = receivedAt,
    failingSince,
  }: Pick<Tries, 'failingSince'> & { receivedAt: number; askedAt?: number | undefined },
  { giveUpMs }: Backoff,
  now: number,
  troubleSince = now,
): boolean => now >= Math.max(askedAt + giveUpMs, (failingSince ?? troubleSince) + Math.min(giveUpMs, leastTriedMs));

/** Returns the reason to record for giving up a message. */
export const toGiveUpReason = (reason: string, { giveUpMs }: Backoff): string =>
  `${reason}; given up after ${Number((giveUpMs / 3_600_000).toPrecision(3))} h`;
