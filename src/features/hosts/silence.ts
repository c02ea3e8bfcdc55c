import { minuteMs } from '../../lib/units.ts';
import type { HostState } from './host-state.ts';
import type { HostStateName } from './schema.ts';

/** Milliseconds without a report after which a host is late. */
const lateMs = minuteMs;

/** Milliseconds for which a host that stopped in order is not missed. */
const stoppedMs = 10 * minuteMs;

/** State of a host at a time, and when it changes if there is no report before. Times are Unix milliseconds. */
export interface HostJudgement {
  state: HostStateName;
  since: number | null;
  changesAt: number;
}

export interface SilenceRules {
  silentMs: number;
  /** Time since which this server could receive reports: nobody is blamed for the time before. */
  receivingSince: number;
}

/** Judges a host by its last report. */
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
  const lateAt = quietSince + Math.min(lateMs, silentMs);
  if (now >= lateAt) return { state: 'late', since: at, changesAt: silentAt };
  return { state: 'up', since: state.lastSilence?.until ?? null, changesAt: Math.min(lateAt, silentAt) };
};

/** Returns the machines that report under one name in turn; empty for a single machine, also if it replaced another one. */
export const findDuplicates = ({ machines }: HostState): HostState['machines'] =>
  machines.length > 1 && machines.some(({ hasReturned }) => hasReturned) ? machines : [];
