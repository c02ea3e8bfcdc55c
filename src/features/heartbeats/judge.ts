import type { KnownHeartbeat } from './definition.ts';
import type { HeartbeatState } from './runs.ts';
import type { Heartbeat } from './schema.ts';

export type HeartbeatStatus = Heartbeat['state'];

/** A time in which nothing could be received, in Unix milliseconds. */
export interface Outage {
  from: number;
  to: number;
}

/** What is left of them where the clock was set back: nothing has been in the future. */
export const clampOutages = (outages: readonly Outage[], now: number): Outage[] =>
  outages.filter(({ from }) => from < now).map(({ from, to }) => ({ from, to: Math.min(to, now) }));

/** How a heartbeat stands at a time. */
export interface Judgement {
  status: HeartbeatStatus;
  /** When the next one is due; null where none is expected. */
  dueAt: number | null;
  /** What to note now: it is down. */
  overdue: { why: 'late' | 'long'; dueAt: number } | undefined;
  /** When time alone changes this next; Infinity if it does not. */
  changesAt: number;
}

/** Says from what was sent, what is expected and the time how a heartbeat stands; nothing else decides. */
export const judgeHeartbeat = (
  state: HeartbeatState | undefined,
  { times, definition, since, changedAt }: Pick<KnownHeartbeat, 'times' | 'definition' | 'since' | 'changedAt'>,
  outages: readonly Outage[],
  now: number,
): Judgement => {
  const still = (status: HeartbeatStatus, dueAt: number | null = null): Judgement => ({
    status,
    dueAt,
    overdue: undefined,
    changesAt: Number.POSITIVE_INFINITY,
  });
  if (state?.paused) return still('paused');
  const base = state?.base ?? null;
  if (base === null) {
    // The log is about to say from when on the first one is expected.
    const first = since > 0 ? times.dueAfter(since) : 0;
    return still(state?.problem ? 'down' : 'new', first > now ? toShown(first) : null);
  }
  const due = times.dueAfter(Math.max(base, state?.startedAt ?? base));
  if (state?.problem) return still('down', toShown(due));
  const graceMs = times.graceAt(due);
  // Who makes it shorter does not make it late at once.
  const late = Math.max(extend({ due, at: due + graceMs }, graceMs, outages), changedAt + graceMs);
  const runs = state?.runs ?? [];
  const running = runs.filter(({ result }) => result === 'running');
  const { maxRunMinutes } = definition;
  const oldest = Math.min(...running.map(({ startedAt }) => startedAt ?? Number.POSITIVE_INFINITY));
  const long =
    maxRunMinutes === undefined
      ? Number.POSITIVE_INFINITY
      : toRunEnd(oldest + maxRunMinutes * 60_000, graceMs, outages);
  const dueAt = toShown(due);
  if (now >= Math.min(late, long)) {
    const overdue = long <= late ? ({ why: 'long', dueAt: long } as const) : ({ why: 'late', dueAt: due } as const);
    return { ...still('down', dueAt), overdue };
  }
  const changesAt = Math.min(now < due ? due : late, long, late);
  if (running.length > 0) return { ...still('running', dueAt), changesAt: Math.min(long, late) };
  const isNew = runs.every(({ result }) => result === 'log');
  return { ...still(now >= due ? 'late' : isNew ? 'new' : 'up', dueAt), changesAt };
};

const toShown = (due: number): number | null => (due === Number.POSITIVE_INFINITY ? null : due);

const toRunEnd = (at: number, graceMs: number, outages: readonly Outage[]): number =>
  extend({ due: at, at }, graceMs, outages);

/** What came due, or late, while nothing could be received gets one more grace. */
const extend = (expected: { due: number; at: number }, graceMs: number, outages: readonly Outage[]): number => {
  let { at } = expected;
  for (const { from, to } of outages) {
    const isIn = (time: number): boolean => time > from && time <= to;
    if (isIn(expected.due) || isIn(at)) at = Math.max(at, to + graceMs);
  }
  return at;
};
