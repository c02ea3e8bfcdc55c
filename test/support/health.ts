import { get } from 'node:http';
import { setTimeout } from 'node:timers/promises';

/** Milliseconds between two requests, without waiting for responses. */
const interval = 50;

/** Milliseconds after which a request counts as unanswered. */
const patience = 30_000;

export interface HealthWatch {
  /**
   * Stops, and resolves to the slowest response time in milliseconds. If a connection is closed or refused, the request
   * is retried while its time keeps running.
   */
  stop(): Promise<number>;
}

/** Requests health repeatedly, each time on a new connection. */
export const watchHealth = (url: string): HealthWatch => {
  const times: Promise<number>[] = [];
  const ask = (): void => void times.push(measureHealth(url));
  ask();
  const timer = setInterval(ask, interval);
  return {
    stop: async () => {
      clearInterval(timer);
      ask();
      return Math.max(...(await Promise.all(times)));
    },
  };
};

const measureHealth = async (url: string): Promise<number> => {
  const start = performance.now();
  while (performance.now() - start < patience) {
    if (await isHealthy(url)) return performance.now() - start;
    await setTimeout(interval);
  }
  return Number.POSITIVE_INFINITY;
};

const isHealthy = (url: string): Promise<boolean> =>
  new Promise((resolve) => {
    const request = get(`${url}/health`, { agent: false, timeout: patience }, (response) => {
      response.resume();
      response.on('close', () => resolve(response.statusCode === 200 && response.complete));
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(false));
  });
