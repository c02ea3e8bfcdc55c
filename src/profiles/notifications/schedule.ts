/** Seconds to wait after the first failed attempts. */
const firstSeconds = [1, 2, 5, 10, 20, 30];

const minute = 60;
const hour = 60 * minute;

/** Attempts that are a minute apart, until about an hour has passed; later ones are five minutes apart. */
const minuteAttempts = 60;

/** The share of a wait that chance adds, so that many senders do not come back together. */
const jitter = 0.1;

/** A receiver can ask for at most this many seconds. */
export const longestAsked = 24 * hour;

/** Where `retrySeconds` replace the waits, a destination that the receiver refuses is tried no more often than this. */
const leastRejectedSeconds = 1;

/** A destination that fails for this long is reported as failing, or for this share of the promise if that is less. */
const failingMs = 5 * minute * 1000;
const failingShare = 0.1;

const defaultGiveUpHours = 24;

/** What became of an attempt. */
export type DeliveryOutcome =
  | { kind: 'delivered' }
  /** The receiver refuses this alert for good. */
  | { kind: 'refused'; reason: string }
  /** The receiver refuses what this destination sends: a wrong address or token, or else a rule against this alert. */
  | { kind: 'rejected'; reason: string }
  /** Try again, after `seconds` at the earliest. `mayBeAlert`: another alert may be accepted meanwhile. */
  | { kind: 'failed'; reason: string; seconds: number; mayBeAlert: boolean };

const refusals = new Set([400, 413, 422]);

/** Timeouts and limits. */
const temporary = new Set([408, 425, 429]);

/** What a response of the receiver means. `retryAfter` is the header's text. */
export const toOutcome = (status: number, retryAfter: string | undefined, now: Date): DeliveryOutcome => {
  const reason = `the receiver responded ${status}`;
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  if (refusals.has(status)) return { kind: 'refused', reason };
  if (status < 500 && !temporary.has(status)) return { kind: 'rejected', reason };
  const isBusy = status === 429 || status === 503;
  return { kind: 'failed', reason, seconds: isBusy ? toSeconds(retryAfter, now) : 0, mayBeAlert: !isBusy };
};

/** Retry-After (RFC 9110, 10.2.3): seconds or a date; 0 if it is neither. */
const toSeconds = (text = '', now: Date): number => {
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : (Date.parse(text) - now.getTime()) / 1000;
  return Number.isNaN(seconds) ? 0 : Math.min(Math.max(seconds, 0), longestAsked);
};

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
    /** The same, if the receiver refuses the destination. */
    waitAfterRejected: (attempts: number): number =>
      toWait(
        retrySeconds
          ? Math.max(lastSeconds, leastRejectedSeconds)
          : toUsualSeconds(Math.max(attempts, firstSeconds.length + 1)),
      ),
    /** An alert with so many failed attempts is given up, and one that waits for so many milliseconds. */
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
