import { parseRetryAfter } from '../../../client/retry-after.ts';

/** A receiver can ask for at most this many seconds. */
export const longestAskedSeconds = 24 * 60 * 60;

/** What became of an attempt. */
export type DeliveryOutcome =
  | { kind: 'delivered' }
  /** The receiver refuses this message for good. */
  | { kind: 'refused'; reason: string }
  /** The receiver refuses what this destination sends: a wrong address or token, or else a rule against this message. */
  | { kind: 'rejected'; reason: string }
  /**
   * Try again, after `seconds` at the earliest. `mayBeMessage`: another message may be accepted meanwhile. `isUnanswered`: the
   * receiver may have this one.
   */
  | { kind: 'failed'; reason: string; seconds: number; mayBeMessage: boolean; isUnanswered?: boolean };

/** One after which the message is tried again. */
export type FailedOutcome = Extract<DeliveryOutcome, { kind: 'failed' | 'rejected' }>;

/** 414 and 431: the texts of the message make the address or the headers too long. */
const refusals = new Set([400, 413, 414, 422, 431]);

/** A proxy, or Cloudflare, had no response of the receiver in time. */
const gatewayTimeouts = new Set([504, 524]);

/** Timeouts and limits. */
const temporary = new Set([408, 425, 429]);

/** What a response of the receiver means. `retryAfter` is the header's text. */
export const toDeliveryOutcome = (status: number, retryAfter: string | undefined, now: Date): DeliveryOutcome => {
  const reason = `the receiver responded ${status}`;
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  if (refusals.has(status)) return { kind: 'refused', reason };
  if (status < 500 && !temporary.has(status)) return { kind: 'rejected', reason };
  const isBusy = status === 429 || status === 503;
  const asked = isBusy ? (parseRetryAfter(retryAfter, now.getTime()) ?? 0) : 0;
  const isUnanswered = gatewayTimeouts.has(status);
  const seconds = Math.min(asked, longestAskedSeconds);
  return { kind: 'failed', reason, seconds, mayBeMessage: !isBusy, ...(isUnanswered && { isUnanswered }) };
};

/** Whether the failure may be the fault of the message, so that another one may be accepted. */
export const mayBeMessage = (outcome: FailedOutcome): boolean => outcome.kind === 'rejected' || outcome.mayBeMessage;
