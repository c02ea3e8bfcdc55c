import { parseRetryAfter } from '../../../client/retry-after.ts';

/** Maximum number of seconds in a `Retry-After` header that is honoured. */
export const longestAskedSeconds = 24 * 60 * 60;

/** Outcome of an attempt to deliver a message. */
export type DeliveryOutcome =
  | { kind: 'delivered' }
  /** The receiver will never accept this message. */
  | { kind: 'refused'; reason: string }
  /** The receiver probably rejects every message, because the address or the credential is wrong. */
  | { kind: 'rejected'; reason: string }
  /**
   * The message is retried after at least `seconds`. `mayBeMessage`: the message itself may be the cause. Other
   * messages are then sent in the meantime. `isUnanswered`: the receiver may have received the message.
   */
  | { kind: 'failed'; reason: string; seconds: number; mayBeMessage: boolean; isUnanswered?: boolean };

/** Outcome after which the message is retried. */
export type FailedOutcome = Extract<DeliveryOutcome, { kind: 'failed' | 'rejected' }>;

/** Statuses that refuse a message. With 414 and 431, the message makes the address or the headers too long. */
const refusals = new Set([400, 413, 414, 422, 431]);

/** Statuses with which a proxy, such as Cloudflare, reports that the receiver did not respond in time. */
const gatewayTimeouts = new Set([504, 524]);

/** Statuses below 500 that are retried: timeouts and rate limits. */
const temporary = new Set([408, 425, 429]);

/** Interprets a response. `retryAfter` is the text of the header. */
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

/** True if the message may have caused the failure. The receiver may then accept other messages. */
export const mayBeMessage = (outcome: FailedOutcome): boolean => outcome.kind === 'rejected' || outcome.mayBeMessage;
