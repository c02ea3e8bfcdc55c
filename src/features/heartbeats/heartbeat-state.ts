import type { HeartbeatRecord, Ping } from './records.ts';
import { addLog, endRun, giveUpRuns, type StoredRun, startRun } from './runs.ts';
import type { Heartbeat } from './schema.ts';
import type { TransferredState } from './transferred-state.ts';

/** Reason why a heartbeat is down. */
export interface HeartbeatProblem {
  /** Seq of the record that reports the problem. */
  seq: number;
  at: number;
  why: NonNullable<Heartbeat['downReason']>;
  exitCode: number | null;
  /** Time at which a late heartbeat was due. */
  dueAt: number | null;
}

/**
 * State of a heartbeat according to its records, without its definition. States are immutable. Times are Unix
 * milliseconds.
 */
export interface HeartbeatState {
  name: string;
  since: number;
  /** Seq of the last record that may have changed the expected time. */
  seq: number;
  /** Time from which the wait for the next ping is counted. Null before the first ping. */
  base: number | null;
  /** Start of the earliest run after the last run that ended. */
  startedAt: number | null;
  lastPingAt: number | null;
  lastSuccessAt: number | null;
  problem: HeartbeatProblem | null;
  /** Firing alert, and the seq of the problem that it reports. */
  told: { alert: string; level: string; seq: number; at: number } | null;
  paused: { by: string; at: number } | null;
  /** Time of the last resumption. Undefined if the heartbeat was never resumed. */
  resumedAt?: number;
  /** Runs, oldest first. */
  runs: readonly StoredRun[];
}

export const createHeartbeatState = (name: string, since: number): HeartbeatState => ({
  name,
  since,
  seq: 0,
  base: null,
  startedAt: null,
  lastPingAt: null,
  lastSuccessAt: null,
  problem: null,
  told: null,
  paused: null,
  runs: [],
});

/** Folds a record of the heartbeat. */
export const foldHeartbeat = (
  state: HeartbeatState,
  record: Exclude<HeartbeatRecord, { type: 'outage' | 'clock' | 'moved' }>,
  seq: number,
): HeartbeatState => {
  const { at } = record;
  switch (record.type) {
    case 'start':
      return foldStart(state, record, at, seq);
    case 'success':
    case 'failure':
      return foldEnd(state, record, at, seq);
    case 'log':
      return { ...state, seq, lastPingAt: at, runs: addLog(state.runs, record, at) };
    case 'overdue':
      // If another record was stored while the server was deciding, the decision no longer applies.
      if (record.after !== state.seq || state.problem || state.paused) return state;
      return {
        ...state,
        seq,
        problem: { seq, at, why: record.why, exitCode: null, dueAt: record.dueAt },
        runs: record.why === 'long' ? giveUpRuns(state.runs) : state.runs,
      };
    case 'told': {
      const { alert, level, problem } = record;
      return { ...state, told: alert === null ? null : { alert, level, seq: problem, at } };
    }
    case 'expected':
      return { ...state, base: state.base ?? at };
    case 'pause':
      return { ...state, seq, paused: state.paused ?? { by: record.by, at } };
    case 'resume':
      if (!state.paused) return state;
      // Problems from before the pause no longer count, and the wait for the next ping begins now.
      return {
        ...state,
        seq,
        paused: null,
        resumedAt: at,
        problem: null,
        startedAt: null,
        base: at,
        runs: giveUpRuns(state.runs),
      };
  }
};

/** Replaces times in the future with `now`. Used after the clock was set back. */
export const clampTimes = (state: HeartbeatState, now: number): HeartbeatState => {
  const clamp = <T extends number | null>(at: T): T => (at !== null && at > now ? now : at) as T;
  return {
    ...state,
    base: clamp(state.base),
    startedAt: clamp(state.startedAt),
    lastPingAt: clamp(state.lastPingAt),
    lastSuccessAt: clamp(state.lastSuccessAt),
    runs: state.runs.map((run) => ({ ...run, startedAt: clamp(run.startedAt), endedAt: clamp(run.endedAt) })),
  };
};

const foldStart = (state: HeartbeatState, ping: Ping, at: number, seq: number): HeartbeatState => {
  const runs = startRun(state.runs, ping, at);
  if (!runs) return { ...state, seq, lastPingAt: at };
  return { ...state, seq, lastPingAt: at, base: state.base ?? at, startedAt: state.startedAt ?? at, runs };
};

const foldEnd = (state: HeartbeatState, ping: Ping, at: number, seq: number): HeartbeatState => {
  const runs = endRun(state.runs, ping, at);
  if (!runs) return { ...state, lastPingAt: at };
  const ended = { ...state, seq, lastPingAt: at, base: at, startedAt: null, runs };
  if (ping.type === 'success') return { ...ended, lastSuccessAt: at, problem: null };
  return { ...ended, problem: { seq, at, why: 'failed', exitCode: ping.exitCode ?? null, dueAt: null } };
};

/** Converts a state to its form in an export. */
export const toTransferred = ({ seq: _, problem, told, ...state }: HeartbeatState): TransferredState => ({
  ...state,
  runs: [...state.runs],
  problem: problem && withoutSeq(problem),
  told: told && { ...withoutSeq(told), isCurrent: (problem?.seq ?? 0) <= told.seq },
});

/** Restores an exported state as of the record with the given seq. */
export const fromTransferred = ({ problem, told, ...state }: TransferredState, seq: number): HeartbeatState => ({
  ...state,
  seq,
  problem: problem && { ...problem, seq },
  told: told && toReported(told, seq),
});

const toReported = (
  { isCurrent, ...told }: NonNullable<TransferredState['told']>,
  seq: number,
): HeartbeatState['told'] => ({
  ...told,
  seq: isCurrent ? seq : seq - 1,
});

const withoutSeq = <T extends { seq: number }>({ seq: _, ...others }: T): Omit<T, 'seq'> => others;
