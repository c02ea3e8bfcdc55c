import type { StoredIncident } from './incident.ts';

/**
 * Milliseconds by which a stored time may be ahead of the clock. If it is further ahead, the clock was set back and the
 * stored time is meaningless.
 */
const clockSlackMs = 60_000;

/** Times of a possible cause of an incident, in Unix milliseconds. */
export interface PossibleCause {
  /** True while an incident of the cause is open or acknowledged. */
  isOpen: boolean;
  /** Time at which the latest incident of the cause was resolved. Undefined if there was no incident. */
  endedAt: number | undefined;
  /** Time at which the next check of the cause will be complete. */
  knownAt: number;
}

/**
 * Returns the Unix milliseconds until which the notifications of an incident are held. Infinity while a cause is open.
 * Notifications wait until each possible cause has been checked. After a cause ends, they wait for the grace period,
 * because the cause may return.
 */
export const findHoldEnd = (
  { openedAt }: Pick<StoredIncident, 'openedAt'>,
  causes: readonly PossibleCause[],
  graceMs: number,
  now: number,
): number => {
  let until = now;
  for (const { isOpen, endedAt, knownAt } of causes) {
    if (isOpen) return Number.POSITIVE_INFINITY;
    if (endedAt !== undefined && endedAt <= now + clockSlackMs) until = Math.max(until, endedAt + graceMs);
    if (openedAt <= now + clockSlackMs) until = Math.max(until, knownAt);
  }
  return until;
};
