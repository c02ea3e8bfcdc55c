/** Seconds to wait after each failed attempt; after the last one the alert is parked. */
const usualSeconds = [5, 5 * 60, 30 * 60, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * 3600)];

/** The share of a wait that chance adds, so that many senders do not come back together. */
const jitter = 0.1;

/** A receiver can ask for at most this many seconds. */
const longestAsked = 24 * 3600;

/** What became of an attempt. */
export type Outcome =
  | { kind: 'delivered' }
  /** The receiver refuses this alert for good. */
  | { kind: 'refused'; reason: string }
  /** The receiver wants no more alerts at all. */
  | { kind: 'gone'; reason: string }
  /** Try again, after `seconds` at the earliest. */
  | { kind: 'failed'; reason: string; seconds: number };

/** What a response of the receiver means. `retryAfter` is the header's text. */
export const toOutcome = (status: number, retryAfter: string | undefined, now: Date): Outcome => {
  const reason = `the receiver responded ${status}`;
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  if (status === 410) return { kind: 'gone', reason };
  const isBusy = status === 429 || status === 503;
  if (status >= 400 && status < 500 && !isBusy) return { kind: 'refused', reason };
  return { kind: 'failed', reason, seconds: isBusy ? toSeconds(retryAfter, now) : 0 };
};

/** Retry-After (RFC 9110, 10.2.3): seconds or a date; 0 if it is neither. */
const toSeconds = (text = '', now: Date): number => {
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : (Date.parse(text) - now.getTime()) / 1000;
  return Number.isNaN(seconds) ? 0 : Math.min(Math.max(seconds, 0), longestAsked);
};

export interface Schedule {
  /** Milliseconds to wait after so many failed attempts; undefined if there is no further one. */
  waitAfter(attempts: number): number | undefined;
  /** The longest wait in milliseconds. */
  longest: number;
}

/** The waits between attempts, with some chance in them. */
export const createSchedule = (seconds: readonly number[] = usualSeconds): Schedule => ({
  waitAfter: (attempts) => {
    const wait = seconds[attempts - 1];
    return wait === undefined ? undefined : wait * 1000 * (1 + Math.random() * jitter);
  },
  longest: Math.max(longestAsked, ...seconds) * 1000 * (1 + jitter),
});
