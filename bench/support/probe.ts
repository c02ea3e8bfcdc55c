import { Agent } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { quantile } from './figures.ts';
import { send } from './http.ts';

/** Time between two requests. */
const intervalMs = 5;

/**
 * Asks at fixed intervals, whether the last request was answered or not, so that a server which stands still is
 * asked meanwhile as well; answers the time in milliseconds that 99 % of the requests stayed below.
 */
export const measureP99 = async (url: string, seconds: number): Promise<number> => {
  const agent = new Agent({ keepAlive: true });
  const times: Promise<number | undefined>[] = [];
  const began = performance.now();
  for (let due = began; due < began + seconds * 1000; due += intervalMs) {
    const early = due - performance.now();
    if (early > 0) await setTimeout(early);
    times.push(ask(url, agent));
  }
  const all = (await Promise.all(times)).filter((ms) => ms !== undefined);
  agent.destroy();
  if (all.length < times.length) throw new Error(`${times.length - all.length} requests to ${url} failed`);
  return quantile(all, 0.99);
};

const ask = async (url: string, agent: Agent): Promise<number | undefined> => {
  const answer = await send(url, { method: 'GET', agent });
  return answer?.status === 200 ? answer.ms : undefined;
};
