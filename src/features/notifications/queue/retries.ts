import type { FailedOutcome, Schedule } from './receiver.ts';
import type { QueuedAlert } from './waiting.ts';

/** What waits is given up no sooner than this after its first failure, although signalbox may have been off for long. */
const leastTriedMs = 60 * 60 * 1000;

/**
 * Notes a failed attempt, and when the next one is due. `hasCounted`: it was not one before its time; `isUsedUp`: no attempt
 * is left.
 */
export const noteFailure = (
  one: QueuedAlert,
  outcome: FailedOutcome,
  schedule: Schedule,
  now: number,
): { hasCounted: boolean; isUsedUp: boolean } => {
  const time = performance.now();
  const isRejected = outcome.kind === 'rejected';
  const mayBeAlert = isRejected || outcome.mayBeAlert;
  one.failingSince ??= now;
  if (mayBeAlert) one.suspicion += 1;
  if (isRejected) one.rejections += 1;
  // An attempt before its time counts only if it succeeds.
  if (one.isEarly && one.dueAt > time) return { hasCounted: false, isUsedUp: false };
  one.isEarly = false;
  if (isRejected) {
    one.dueAt = time + schedule.waitAfterRejected(one.rejections);
    return { hasCounted: false, isUsedUp: false };
  }
  one.attempts += 1;
  if (!isRejected && outcome.isUnanswered) {
    one.unanswered += 1;
    one.dueAt = time + schedule.waitAfterUnanswered(one.unanswered);
  } else if (mayBeAlert) one.dueAt = time + schedule.waitAfter(one.attempts);
  return { hasCounted: true, isUsedUp: one.attempts >= schedule.mostAttempts };
};

/** Whether it has waited for as long as is promised. `troubleSince`: since when the receiver accepts nothing. */
export const isPromiseOver = (
  { receivedAt, failingSince }: Pick<QueuedAlert, 'receivedAt' | 'failingSince'>,
  { giveUpMs }: Schedule,
  now: number,
  troubleSince = now,
): boolean => now >= Math.max(receivedAt + giveUpMs, (failingSince ?? troubleSince) + Math.min(giveUpMs, leastTriedMs));

/** Why it was given up. */
export const toGivenUp = (reason: string, { giveUpMs }: Schedule): string =>
  `${reason}; given up after ${Number((giveUpMs / 3_600_000).toPrecision(3))} h`;
