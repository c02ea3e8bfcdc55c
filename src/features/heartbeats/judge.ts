import type { HeartbeatState } from './heartbeat-state.ts';
import type { KnownHeartbeat } from './kind.ts';
import type { Outage } from './outages.ts';
import type { Heartbeat } from './schema.ts';

export type HeartbeatStatus = Heartbeat['state'];

/** Status of a heartbeat at a time. Times are Unix milliseconds. */
export interface Judgement {
  status: HeartbeatStatus;
  /** Time at which the next ping is due. Null if none is expected. */
  dueAt: number | null;
  /** Problem that is not yet in the log. */
  overdue: { why: 'late' | 'long'; dueAt: number } | undefined;
  /** Time at which the status changes without a new record. Infinity if it never does. */
  changesAt: number;
}

/** Computes the status from the records, the definition and the time. Depends on nothing else. */
export const judgeHeartbeat = (
  state: HeartbeatState | undefined,
  { times, definition, since, changedAt }: Pick<KnownHeartbeat, 'times' | 'definition' | 'since' | 'changedAt'>,
  outages: readonly Outage[],
  now: number,
): Judgement => {
  const constant = (status: HeartbeatStatus, dueAt: number | null = null): Judgement => ({
    status,
    dueAt,
    overdue: undefined,
    changesAt: Number.POSITIVE_INFINITY,
  });
  if (state?.paused) return constant('paused');
  const base = state?.base ?? null;
  if (base === null) {
    // The `expected` record has not been stored yet. The first ping counts from that record.
    const first = since > 0 ? times.dueAfter(since) : 0;
    return constant(state?.problem ? 'down' : 'new', first > now ? toShown(first) : null);
  }
  const due = times.dueAfter(Math.max(base, state?.startedAt ?? base));
  if (state?.problem) return constant('down', toShown(due));
  const graceMs = times.graceAt(due);
  // Shortening the period does not make the heartbeat late immediately.
  const lateAt = Math.max(extend({ due, at: due + graceMs }, graceMs, outages), changedAt + graceMs);
  const runs = state?.runs ?? [];
  const running = runs.filter(({ result }) => result === 'running');
  const { maxRunMinutes } = definition;
  const oldest = Math.min(...running.map(({ startedAt }) => startedAt ?? Number.POSITIVE_INFINITY));
  const longAt =
    maxRunMinutes === undefined
      ? Number.POSITIVE_INFINITY
      : extendRun(oldest + maxRunMinutes * 60_000, graceMs, outages);
  const dueAt = toShown(due);
  if (now >= Math.min(lateAt, longAt)) {
    const overdue =
      longAt <= lateAt ? ({ why: 'long', dueAt: longAt } as const) : ({ why: 'late', dueAt: due } as const);
    return { ...constant('down', dueAt), overdue };
  }
  const changesAt = Math.min(now < due ? due : lateAt, longAt, lateAt);
  if (running.length > 0) return { ...constant('running', dueAt), changesAt: Math.min(longAt, lateAt) };
  const isNew = runs.every(({ result }) => result === 'log');
  return { ...constant(now >= due ? 'late' : isNew ? 'new' : 'up', dueAt), changesAt };
};

const toShown = (due: number): number | null => (due === Number.POSITIVE_INFINITY ? null : due);

const extendRun = (endAt: number, graceMs: number, outages: readonly Outage[]): number =>
  extend({ due: endAt, at: endAt }, graceMs, outages);

/** Grants another grace period if a ping became due or late during an outage. */
const extend = (expected: { due: number; at: number }, graceMs: number, outages: readonly Outage[]): number => {
  let { at } = expected;
  for (const { from, to } of outages) {
    const isIn = (time: number): boolean => time > from && time <= to;
    if (isIn(expected.due) || isIn(at)) at = Math.max(at, to + graceMs);
  }
  return at;
};
