import { readdirSync, readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { constants, setPriority } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { quantile, toSides } from './finding.ts';
import { ask, type Done, type LoadRequest, send } from './requests.ts';
import type { Bench } from './run.ts';

/** Measures the sides in the order A B B A A B. Returns the results of each side in round order. */
export const takeTurns = async <T>(rounds: number, sides: readonly (() => Promise<T>)[]): Promise<T[][]> => {
  const results = sides.map((): T[] => []);
  for (let round = 0; round < rounds; round += 1) {
    const order = [...sides.entries()];
    for (const [side, measure] of round % 2 === 0 ? order : order.reverse()) results[side]?.push(await measure());
  }
  return results;
};

/** Side of a comparison of rates. */
export interface Side {
  /** Processes that do the work. */
  pids: readonly number[];
  /** Bytes per response. */
  bytes: number;
  work(): Promise<Done>;
  /** Waits until no pending work could slow down the other side. */
  settle?(): Promise<unknown>;
}

const weighAlike = (_answer: string): number => 1;

/** Creates a side from a request under load. `weigh` returns the amount of work in a response. */
export const createSide = async (bench: Bench, pids: number[], request: LoadRequest, weigh = weighAlike) => {
  const answer = await ask(request);
  const weight = weigh(answer);
  const work = async (): Promise<Done> => {
    const { count, perSecond } = await bench.load(request, bench.seconds);
    return { count: count * weight, perSecond: perSecond * weight };
  };
  return { pids, bytes: Buffer.byteLength(answer), work, settle: () => ask(request) };
};

/** Returns work per second for our side and for the comparison, each after a warm-up round. */
export const compareRates = async ({ rounds, seconds }: Bench, ...sides: readonly [Side, Side]) => {
  const turns = sides.map(({ pids, bytes, work, settle }) => async () => {
    const before = readCpuMs(...pids);
    const { count, perSecond } = await work();
    const cpuMs = (readCpuMs(...pids) - before) / count;
    await settle?.();
    return { perSecond, cpuMs, bytes };
  });
  await takeTurns(1, turns);
  const results = await takeTurns(rounds, turns);
  const [ours = [], theirs = []] = results;
  return {
    ...toSides(results, ({ perSecond }) => perSecond),
    unit: '/s',
    cpuRatios: theirs.map(({ cpuMs }, round) => cpuMs / (ours[round]?.cpuMs ?? Number.NaN)),
    rounds: `${rounds} × ${seconds} s`,
  };
};

/**
 * Maximum number of connections. With more, a pause of the machine would lead to refusals because of too many
 * connections from one address.
 */
const maxSockets = 200;

/** Requests at fixed intervals. */
export const usual = { count: 2000, everyMs: 2 };

/**
 * Sends requests at fixed intervals without waiting for responses, even if the server has stalled. Throws unless all
 * requests get 200.
 */
export const measureP99 = async ({ url, ...request }: LoadRequest, { count, everyMs } = usual) => {
  const agent = new Agent({ keepAlive: true, maxSockets });
  // Excludes the time spent waiting for a busy processor.
  tryPriority(constants.priority.PRIORITY_HIGH);
  const began = performance.now();
  const sent = [];
  for (let number = 0; number < count; number += 1) {
    const early = began + number * everyMs - performance.now();
    if (early > 0) await setTimeout(early);
    sent.push(send(url, { ...request, agent }));
  }
  const answers = await Promise.all(sent);
  agent.destroy();
  tryPriority(constants.priority.PRIORITY_NORMAL);
  const failed = answers.filter((answer) => answer?.status !== 200);
  if (failed.length > 0) {
    throw new Error(`${failed.length} requests failed: ${failed[0]?.status} ${failed[0]?.text ?? 'no answer'}`);
  }
  const times = answers.map((answer) => answer?.ms ?? Number.NaN);
  return { p99: quantile(times, 0.99), bytes: Buffer.byteLength(answers[0]?.text ?? '') };
};

const tryPriority = (priority: number): void => {
  try {
    setPriority(priority);
  } catch {
    // Ordinary users may not do this. The figures are then slightly worse.
  }
};

type Probe = Awaited<ReturnType<typeof measureP99>>;

export const toTimes = (ours: Probe[] = [], theirs: Probe[] = [], { count, everyMs } = usual) => ({
  ...toSides([ours, theirs], ({ p99 }) => p99),
  unit: ' ms',
  rounds: `${ours.length} × ${count.toLocaleString('en')} requests in ${(count * everyMs) / 1000} s`,
});

/** Milliseconds per tick in /proc/PID/stat. The value is the same on every Linux that Node runs on. */
const tickMs = 10;

/**
 * Reads the processor time, user and system, of processes and all their children in milliseconds. Includes children
 * that have ended.
 */
export const readCpuMs = (...pids: readonly number[]): number =>
  pids.reduce((sum, pid) => sum + readTimes(pid) + readCpuMs(...listChildren(pid)), 0);

const readTimes = (pid: number): number => {
  const stat = read(`/proc/${pid}/stat`);
  // The second field, a name, may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user, system, childUser, childSystem] = fields.slice(11).map(Number);
  return ((user ?? 0) + (system ?? 0) + (childUser ?? 0) + (childSystem ?? 0)) * tickMs;
};

const listChildren = (pid: number): number[] => {
  const texts = listThreads(pid).map((thread) => read(`/proc/${pid}/task/${thread}/children`));
  return texts.flatMap((text) => text.split(' ').filter(Boolean).map(Number));
};

/** Lists the threads of a process. Empty if the process has ended. */
const listThreads = (pid: number): string[] => {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
};

/** Reads a file. Returns an empty string if the process or thread has ended. */
const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};

/** Reads a number from /proc/PID/status. */
export const readStatus = (pid: number, name: string): number =>
  Number(new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
