import { Agent } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { quantile } from './figures.ts';
import { send } from './http.ts';

/** One request: when it was due, in milliseconds of the clock, and what came of it; no status where nothing whole came. */
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
export const takeSamples = async (url: string, seconds: number, intervalMs = interval): Promise<Sample[]> => {
  const agent = new Agent({ keepAlive: true });
  const samples: Promise<Sample>[] = [];
  const began = performance.now();
  for (let due = began; due < began + seconds * 1000; due += intervalMs) {
    const early = due - performance.now();
    if (early > 0) await setTimeout(early);
    samples.push(ask(url, agent, performance.timeOrigin + due));
  }
  const all = await Promise.all(samples);
  agent.destroy();
  return all;
};

/** The time in milliseconds that 99 % of the requests stayed below; throws where one was not answered 200. */
export const measureP99 = async (url: string, seconds: number): Promise<number> =>
  toP99(await takeSamples(url, seconds), url);

/** The same of samples that were taken. */
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

const ask = async (url: string, agent: Agent, due: number): Promise<Sample> => {
  const answer = await send(url, { method: 'GET', agent });
  return { due, ms: answer?.ms ?? Number.NaN, status: answer?.status };
};
