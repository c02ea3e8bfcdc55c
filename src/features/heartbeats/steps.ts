import { describeDown, describeUp, type HeartbeatAlert } from './alert.ts';
import type { HeartbeatState } from './heartbeat-state.ts';
import type { Judgement } from './judge.ts';
import type { KnownHeartbeat } from './kind.ts';
import type { HeartbeatRecord } from './records.ts';

/** Milliseconds between two alerts for a job that keeps failing. */
const repeatMs = 60_000;

export type ExpectedRecord = HeartbeatRecord & { type: 'expected' };

/** Next step for a heartbeat. */
type Step =
  | { type: 'append'; record: HeartbeatRecord }
  /** Append a record that the heartbeat is expected. This ends earlier heartbeats with the same name. */
  | { type: 'expect'; record: ExpectedRecord }
  /** Raise or resolve the alert, then append a record with the alert's id. */
  | { type: 'alert'; alert: HeartbeatAlert; toRecord(id: string): HeartbeatRecord }
  | { type: 'wait'; until: number };

interface StepParts {
  /** Definition. Undefined for a deleted heartbeat. */
  known: KnownHeartbeat | undefined;
  judgement: Judgement | undefined;
  /** State stored under the name, possibly left by a deleted heartbeat. */
  state: HeartbeatState | undefined;
  now: number;
  startedAt: number;
  /** Milliseconds after startup during which the definition of an existing heartbeat may still be missing. */
  patienceMs: number;
}

/** Finds the next step for a heartbeat. Undefined if there is nothing to do until the status changes. */
export const findStep = (parts: StepParts): Step | undefined => {
  const { known, judgement, state, now, startedAt } = parts;
  const own = state?.since === known?.since ? state : undefined;
  if (known && judgement?.overdue) {
    const { why, dueAt } = judgement.overdue;
    const { name, since } = known;
    return { type: 'append', record: { type: 'overdue', name, since, at: now, why, dueAt, after: own?.seq ?? 0 } };
  }
  // The `expected` record preserves the first period across restarts. A heartbeat without it, as version 1.1.0 leaves
  // them, is expected from now on.
  const isUndated = (own?.base ?? null) === null && !own?.paused && !own?.problem;
  if (known && isUndated) {
    const { name, since } = known;
    return { type: 'expect', record: { type: 'expected', name, since, at: since >= startedAt ? since : now } };
  }
  return state && findAlertStep(state, parts);
};

const findAlertStep = (state: HeartbeatState, parts: StepParts): Step | undefined => {
  const { known, now, startedAt, patienceMs } = parts;
  const { name, since, problem, told } = state;
  const about = { type: 'told', name, since, at: now } as const;
  if (!known && now - startedAt < patienceMs) return { type: 'wait', until: startedAt + patienceMs };
  if (known?.since === since && problem !== null && state.paused === null) {
    if (told && problem.seq <= told.seq) return undefined;
    if (told && Math.abs(now - told.at) < repeatMs) return { type: 'wait', until: told.at + repeatMs };
    const alert = describeDown(known, state, problem);
    return {
      type: 'alert',
      alert,
      toRecord: (id) => ({ ...about, alert: id, level: alert.level, problem: problem.seq }),
    };
  }
  if (told) {
    return {
      type: 'alert',
      alert: describeUp(known, state, told),
      toRecord: () => ({ ...about, alert: null, level: told.level, problem: told.seq }),
    };
  }
  if (known) return undefined;
  return { type: 'append', record: { ...about, alert: null, level: '', problem: 0, isForgotten: true } };
};
