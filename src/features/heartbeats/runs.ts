import { cutStart } from '../../lib/well-formed.ts';
import type { Ping } from './records.ts';
import { type HeartbeatRun, maxOutputLength, maxRuns } from './schema.ts';

/** Run of a job. Times are Unix milliseconds. Every function here returns a new list of runs, oldest first. */
export interface StoredRun extends Omit<HeartbeatRun, 'startedAt' | 'endedAt' | 'durationMs'> {
  /** Start of the run. Null if only the end was sent. */
  startedAt: number | null;
  /** End of the run. Null while the job runs or if the end was never sent. */
  endedAt: number | null;
}

type Runs = readonly StoredRun[];

/**
 * Adds a run. Returns undefined for a repeated ping. A start without an id marks earlier runs without an id as
 * unfinished.
 */
export const startRun = (runs: Runs, ping: Ping, at: number): Runs | undefined => {
  const [rid, output] = [ping.rid ?? null, ping.output ?? null];
  if (rid !== null && runs.some((run) => run.rid === rid && run.result !== 'log')) return undefined;
  const others = rid === null ? giveUpRuns(runs, null) : runs;
  return limit([...others, { startedAt: at, endedAt: null, result: 'running', exitCode: null, rid, output }]);
};

/** Ends the run that a ping belongs to, or adds a run without a start. Returns undefined for a repeated ping. */
export const endRun = (runs: Runs, ping: Ping, at: number): Runs | undefined => {
  const rid = ping.rid ?? null;
  const index = runs.findLastIndex((run) => run.rid === rid && run.result !== 'log');
  const last = runs[index];
  if (last && rid !== null && last.endedAt !== null) return undefined;
  const open = last?.endedAt === null ? last : undefined;
  const ended: StoredRun = {
    startedAt: open?.startedAt ?? null,
    endedAt: at,
    result: ping.type === 'success' ? 'success' : 'failure',
    rid,
    exitCode: ping.exitCode ?? null,
    output: ping.output ?? open?.output ?? null,
  };
  return limit(open ? runs.with(index, ended) : [...runs, ended]);
};

/** Adds text to the run in progress with this id. If there is none, adds the text as a separate entry. */
export const addLog = (runs: Runs, ping: Ping, at: number): Runs => {
  const [rid, output] = [ping.rid ?? null, ping.output ?? null];
  const index = runs.findLastIndex((run) => run.result === 'running' && run.rid === rid);
  const running = runs[index];
  if (running) return limit(runs.with(index, { ...running, output: output ?? running.output }));
  return limit([...runs, { startedAt: null, endedAt: at, result: 'log', exitCode: null, rid, output }]);
};

/** Marks runs in progress as unfinished. With `rid`, marks only runs with that id. */
export const giveUpRuns = (runs: Runs, rid?: string | null): Runs =>
  runs.map((run) =>
    run.result === 'running' && (rid === undefined || run.rid === rid) ? { ...run, result: 'unfinished' } : run,
  );

/**
 * Shortens the outputs to `maxLength` characters in total. Newer outputs keep more characters. Each output keeps its
 * end.
 */
export const shortenOutputs = (runs: Runs, maxLength: number): Runs => {
  let left = maxLength;
  return runs
    .toReversed()
    .map((run) => {
      const { output } = run;
      if (output === null) return run;
      const kept = output.length <= left ? output : copyEnd(output, left);
      left -= kept.length;
      return { ...run, output: kept === '' ? null : kept };
    })
    .reverse();
};

const limit = (runs: Runs): Runs => {
  const kept = runs.slice(-maxRuns);
  let left = maxOutputLength;
  for (let index = kept.length - 1; index >= 0; index -= 1) {
    const run = kept[index] as StoredRun;
    if (run.output === null) continue;
    left -= run.output.length;
    if (left < 0) kept[index] = { ...run, output: null };
  }
  return kept;
};

/** Copies the last characters, because a slice would keep the whole text in memory. */
const copyEnd = (text: string, length: number): string =>
  Buffer.from(cutStart(text, length), 'utf16le').toString('utf16le');
