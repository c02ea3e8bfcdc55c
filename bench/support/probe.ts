import { Agent } from 'node:http';
import { constants, getPriority, setPriority } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { quantile } from './figures.ts';
import { send } from './http.ts';

/**
 * One request: when it was due in milliseconds of the clock, and its outcome; no status if the response was incomplete.
 */
export interface Sample {
  due: number;
  ms: number;
  status: number | undefined;
}

/** Milliseconds between two requests. */
const interval = 5;

/**
 * Asks at fixed intervals, whether the last request was answered or not, so that a server which stands still is asked
 * meanwhile as well.
 */
export const takeSamples = (url: string, seconds: number, intervalMs = interval, body?: object): Promise<Sample[]> =>
  withPriority(() => takeAll(url, seconds, intervalMs, body));

const takeAll = async (url: string, seconds: number, intervalMs: number, body?: object): Promise<Sample[]> => {
  const agent = new Agent({ keepAlive: true });
  const samples: Promise<Sample>[] = [];
  const began = performance.now();
  for (let due = began; due < began + seconds * 1000; due += intervalMs) {
    const early = due - performance.now();
    if (early > 0) await setTimeout(early);
    samples.push(ask(url, agent, performance.timeOrigin + due, body));
  }
  const all = await Promise.all(samples);
  agent.destroy();
  return all;
};

/**
 * The time in milliseconds that 99 % of the requests stayed below, GET or, with a body, POST; throws where one was not
 * answered 200.
 */
export const measureP99 = async (url: string, seconds: number, body?: object): Promise<number> =>
  toP99(await takeSamples(url, seconds, interval, body), url);

/** The p99 of samples that were taken. */
export const toP99 = (samples: readonly Sample[], url: string): number => {
  const failed = samples.filter(({ status }) => status !== 200);
  if (failed.length > 0) {
    throw new Error(`${failed.length} requests to ${url} failed: ${failed[0]?.status ?? 'no answer'}`);
  }
  return quantile(
    samples.map(({ ms }) => ms),
    0.99,
  );
};

/** The number of measurements in progress. */
let running = 0;
const usual = getPriority();

/**
 * Raises the priority of this process if possible (root); otherwise the time spent waiting for a busy processor would
 * be measured too.
 */
const withPriority = async <T>(run: () => Promise<T>): Promise<T> => {
  running += 1;
  tryPriority(constants.priority.PRIORITY_HIGH);
  try {
    return await run();
  } finally {
    running -= 1;
    if (running === 0) tryPriority(usual);
  }
};

const tryPriority = (priority: number): void => {
  try {
    setPriority(priority);
  } catch {
    // Not allowed for ordinary users; the figures are then slightly worse.
  }
};

const ask = async (url: string, agent: Agent, due: number, body?: object): Promise<Sample> => {
  const answer = await send(url, body ? { agent, body } : { method: 'GET', agent });
  return { due, ms: answer?.ms ?? Number.NaN, status: answer?.status };
};
