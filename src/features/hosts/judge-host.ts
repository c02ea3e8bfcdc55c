import { minuteMs } from '../../lib/units.ts';
import type { HostState } from './host-state.ts';
import type { HostStateName } from './schema.ts';

/** Milliseconds without a report after which a host is late. */
export const toLateMs = (silentMs: number): number => Math.min(minuteMs, silentMs);

/** Milliseconds after an orderly stop during which no report is expected from a host. */
const stoppedMs = 10 * minuteMs;

/**
 * State of a host at a time, and the time at which the state changes unless a report arrives. Times are Unix
 * milliseconds.
 */
export interface HostJudgement {
  state: HostStateName;
  since: number | null;
  changesAt: number;
}

export interface SilenceRules {
  silentMs: number;
  /** Time since which this server has been able to receive reports. Earlier silence does not count. */
  receivingSince: number;
}

/** Judges a host by the time of its last report. */
export const judgeHost = (
  state: HostState | undefined,
  now: number,
  { silentMs, receivingSince }: SilenceRules,
): HostJudgement => {
  if (!state) return { state: 'new', since: null, changesAt: Number.POSITIVE_INFINITY };
  const { at, stoppedAt } = state;
  if (stoppedAt !== null && now < stoppedAt + stoppedMs)
    return { state: 'stopped', since: stoppedAt, changesAt: stoppedAt + stoppedMs };
  const quietSince = Math.max(at, receivingSince);
  const silentAt =
    stoppedAt === null ? quietSince + silentMs : Math.max(stoppedAt + stoppedMs, receivingSince + silentMs);
  if (now >= silentAt) return { state: 'silent', since: at, changesAt: Number.POSITIVE_INFINITY };
  const lateAt = quietSince + toLateMs(silentMs);
  if (now >= lateAt) return { state: 'late', since: at, changesAt: silentAt };
  return {
    state: 'up',
    since: state.upSince ?? state.lastSilence?.until ?? null,
    changesAt: Math.min(lateAt, silentAt),
  };
};

/**
 * Returns the machines that take turns reporting under the same name. Empty for a single machine, even if it replaced
 * another.
 */
export const findDuplicates = ({ machines }: HostState): HostState['machines'] =>
  machines.length > 1 && machines.some(({ hasReturned }) => hasReturned) ? machines : [];
