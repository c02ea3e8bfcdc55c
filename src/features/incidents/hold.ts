import type { StoredIncident } from './incident.ts';

/** Milliseconds by which a stored time can be ahead; beyond, the clock was set back and the time means nothing. */
const clockSlackMs = 60_000;

/** Times of a possible cause of an incident, in Unix milliseconds. */
export interface PossibleCause {
  /** True while an incident of the cause is open or acknowledged. */
  isOpen: boolean;
  /** Time when the latest incident of the cause was resolved; undefined if there was no incident. */
  endedAt: number | undefined;
  /** Time from which it is known if the cause has failed, too. */
  knownAt: number;
}

/**
 * Returns the time in Unix milliseconds until which an incident's notifications are held; Infinity while a cause is
 * open. Notifications wait until each possible cause has been checked. After the end of a cause, they wait for the
 * grace period, because the cause may return.
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
