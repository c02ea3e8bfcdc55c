import type { StoredIncident } from './incident.ts';

/** Milliseconds by which a stored time can be ahead; beyond, the clock was set back and the time means nothing. */
const clockSlackMs = 60_000;

/** Times of one possible cause of an incident, in Unix milliseconds. */
export interface PossibleCause {
  /** True while an incident of the cause is open or acknowledged. */
  isOpen: boolean;
  /** Resolution of its latest incident; undefined if there was none. */
  endedAt: number | undefined;
  /** Time when it is known whether the cause has failed, too. */
  knownAt: number;
}

/**
 * Returns the time until which an incident notifies nobody, Infinity while a cause is open, in Unix milliseconds. It
 * waits until each possible cause has been checked, and for the grace after the end of a cause, which may come back.
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
