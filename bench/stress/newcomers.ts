import { Agent } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { send } from '../support/http.ts';
import type { Server } from '../support/server.ts';

/** Milliseconds between two requests. */
const pause = 1000;

/**
 * Response times of health in milliseconds, one after the other and each on a new connection; throws on a status other
 * than 200.
 */
export const watchNewcomers = async ({ url }: Server, seconds: number): Promise<number[]> => {
  const agent = new Agent();
  const times: number[] = [];
  for (const end = performance.now() + seconds * 1000; performance.now() < end; await setTimeout(pause)) {
    const answer = await send(`${url}/health`, { method: 'GET', agent });
    if (answer?.status !== 200) throw new Error(`health was ${answer?.status ?? 'not answered'}`);
    times.push(answer.ms);
  }
  return times;
};
