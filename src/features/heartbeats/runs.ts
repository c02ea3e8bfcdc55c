import type { StoredRecord } from '../../storage/journal/line.ts';
import type { Heartbeat, HeartbeatRunShape } from './schema.ts';

/** How many runs of a heartbeat are kept, and how many characters of their outputs. */
const mostRuns = 100;
const mostOutput = 64 * 1024;

/** One run of a job; times are Unix milliseconds. */
export interface HeartbeatRun extends Omit<HeartbeatRunShape, 'startedAt' | 'endedAt' | 'durationMs'> {
  /** Null where only its end was sent. */
  startedAt: number | null;
  /** Null while it runs, and where its end was never sent. */
  endedAt: number | null;
}

/** Why a heartbeat is down. */
export interface HeartbeatProblem {
  /** The seq of the record that says so. */
  seq: number;
  at: number;
  why: NonNullable<Heartbeat['downReason']>;
  exitCode: number | null;
  /** When it was expected, of a late one. */
  dueAt: number | null;
}

/** What is known of a heartbeat from what was sent, without its definition. It is never changed, but replaced. */
export interface HeartbeatState {
  name: string;
  since: number;
  /** The last record that may have changed what is expected. */
  seq: number;
  /** From when on the next one is expected; null before the first one. */
  base: number | null;
  /** When the first run began since the last one ended. */
  startedAt: number | null;
  lastPingAt: number | null;
  lastSuccessAt: number | null;
  problem: HeartbeatProblem | null;
  /** The alert that says that it is down, and the problem that it was raised for. */
  told: { alert: string; level: string; seq: number; at: number } | null;
  paused: { by: string; at: number } | null;
  /** Oldest first. */
  runs: readonly HeartbeatRun[];
}

/** What a log has of heartbeats. `since` says which of those that have had this name. */
export type HeartbeatRecord =
  | (Ping & Of)
  /** It is late, unless something came after the record `after`; or a run takes too long. */
  | ({ type: 'overdue'; why: 'late' | 'long'; after: number; dueAt: number } & Of)
  /** Its alert was raised, or with null resolved; or it is not defined any more, which 1.1 takes for a resolved alert. */
  | ({ type: 'told'; alert: string | null; level: string; problem: number; isForgotten?: true } & Of)
  | ({ type: 'pause' | 'resume'; by: string } & Of)
  /** It is expected from now on, although nothing was received yet. */
  | ({ type: 'expected' } & Of)
  /** Nothing could be received between these times. */
  | { type: 'outage'; from: number; at: number }
  /** The clock was set back to this time. */
  | { type: 'clock'; at: number };

interface Of {
  name: string;
  since: number;
  at: number;
}

/** What a job sends. */
export interface Ping {
  type: 'success' | 'start' | 'failure' | 'log';
  exitCode?: number;
  rid?: string;
  output?: string;
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

/** The state after a record of this heartbeat. */
export const foldHeartbeat = (
  state: HeartbeatState,
  record: Exclude<HeartbeatRecord, { type: 'outage' | 'clock' }>,
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
      // Something came while it was decided.
      if (record.after !== state.seq || state.problem || state.paused) return state;
      return {
        ...state,
        seq,
        problem: { seq, at, why: record.why, exitCode: null, dueAt: record.dueAt },
        runs: record.why === 'long' ? giveUp(state.runs) : state.runs,
      };
    case 'told':
      return { ...state, told: record.alert === null ? null : toTold(record, record.alert) };
    case 'expected':
      return { ...state, base: state.base ?? at };
    case 'pause':
      return { ...state, seq, paused: state.paused ?? { by: record.by, at } };
    case 'resume':
      if (!state.paused) return state;
      // What was wrong before is over, and the next one is expected from now on.
      return {
        ...state,
        seq,
        paused: null,
        problem: null,
        startedAt: null,
        base: at,
        runs: giveUp(state.runs),
      };
  }
};

/** The state where the clock was set back: nothing has been in the future. */
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

const knownTypes: readonly unknown[] = [
  'success',
  'start',
  'failure',
  'log',
  'overdue',
  'told',
  'pause',
  'resume',
  'expected',
  'outage',
  'clock',
] satisfies HeartbeatRecord['type'][];

/** The record of a line; undefined for one that another version has written. */
export const parseHeartbeatRecord = (record: StoredRecord): HeartbeatRecord | undefined =>
  knownTypes.includes(record['type']) && Number.isFinite(record['at'])
    ? (record as unknown as HeartbeatRecord)
    : undefined;

const toTold = ({ level, problem, at }: { level: string; problem: number; at: number }, alert: string) => ({
  alert,
  level,
  seq: problem,
  at,
});

const foldStart = (state: HeartbeatState, ping: Ping, at: number, seq: number): HeartbeatState => {
  const rid = ping.rid ?? null;
  // A request that is sent again is the same run.
  if (rid !== null && state.runs.some((run) => run.rid === rid && run.result !== 'log'))
    return { ...state, seq, lastPingAt: at };
  const others = rid === null ? giveUp(state.runs, null) : state.runs;
  const run: HeartbeatRun = { startedAt: at, endedAt: null, result: 'running', exitCode: null, rid, output: null };
  return {
    ...state,
    seq,
    lastPingAt: at,
    base: state.base ?? at,
    startedAt: state.startedAt ?? at,
    runs: limit([...others, { ...run, output: ping.output ?? null }]),
  };
};

const foldEnd = (state: HeartbeatState, ping: Ping, at: number, seq: number): HeartbeatState => {
  const rid = ping.rid ?? null;
  const index = state.runs.findLastIndex((run) => run.rid === rid && run.result !== 'log');
  const last = state.runs[index];
  // A request that is sent again.
  if (last && rid !== null && last.endedAt !== null) return { ...state, lastPingAt: at };
  const known = last?.endedAt === null ? last : undefined;
  const isSuccess = ping.type === 'success';
  const ended: HeartbeatRun = {
    startedAt: known?.startedAt ?? null,
    endedAt: at,
    result: isSuccess ? 'success' : 'failure',
    rid,
    exitCode: ping.exitCode ?? null,
    output: ping.output ?? known?.output ?? null,
  };
  const runs = known ? state.runs.with(index, ended) : [...state.runs, ended];
  return {
    ...state,
    seq,
    lastPingAt: at,
    base: at,
    startedAt: null,
    runs: limit(runs),
    ...(isSuccess
      ? { lastSuccessAt: at, problem: null }
      : { problem: { seq, at, why: 'failed', exitCode: ping.exitCode ?? null, dueAt: null } }),
  };
};

/** What is logged belongs to the run that it names, or the last one that runs. */
const addLog = (runs: readonly HeartbeatRun[], ping: Ping, at: number): readonly HeartbeatRun[] => {
  const [rid, output] = [ping.rid ?? null, ping.output ?? null];
  const index = runs.findLastIndex((run) => run.result === 'running' && run.rid === rid);
  const known = runs[index];
  if (known) return limit(runs.with(index, { ...known, output: output ?? known.output }));
  return limit([...runs, { startedAt: null, endedAt: at, result: 'log', exitCode: null, rid, output }]);
};

/** Nobody expects the end of those that run any more; with a `rid`, of those with this one. */
const giveUp = (runs: readonly HeartbeatRun[], rid?: string | null): readonly HeartbeatRun[] =>
  runs.map((run) =>
    run.result === 'running' && (rid === undefined || run.rid === rid) ? { ...run, result: 'unfinished' } : run,
  );

const limit = (runs: readonly HeartbeatRun[]): readonly HeartbeatRun[] => {
  const kept = runs.slice(-mostRuns);
  let left = mostOutput;
  for (let index = kept.length - 1; index >= 0; index -= 1) {
    const run = kept[index] as HeartbeatRun;
    if (run.output === null) continue;
    left -= run.output.length;
    if (left < 0) kept[index] = { ...run, output: null };
  }
  return kept;
};

/** Shortens the outputs of a state to a number of characters: the newest output stays, or its end. */
export const shortenOutputs = (state: HeartbeatState, most: number): HeartbeatState => {
  let left = most;
  const runs = state.runs.toReversed().map((run) => {
    const { output } = run;
    if (output === null) return run;
    const kept = output.length <= left ? output : copyEnd(output, left);
    left -= kept.length;
    return { ...run, output: kept === '' ? null : kept };
  });
  return { ...state, runs: runs.reverse() };
};

/** The last characters, without half a surrogate pair; a slice would keep the whole text in memory. */
const copyEnd = (text: string, length: number): string =>
  length === 0 ? '' : Buffer.from(text.slice(-length).replace(/^[\udc00-\udfff]/, ''), 'utf16le').toString('utf16le');
