import { type ClientRequest, get } from 'node:http';

/** Milliseconds between two requests, whether the one before is answered or not. */
const interval = 50;

export interface HealthWatch {
  /** Ends it; resolves to the milliseconds that the slowest response took, Infinity where one was not 200. */
  stop(): Promise<number>;
}

/** Asks for health again and again, each time on a new connection. */
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

const measureHealth = (url: string): Promise<number> =>
  new Promise((resolve) => {
    const start = performance.now();
    const request: ClientRequest = get(`${url}/health`, { agent: false, timeout: 60_000 }, (response) => {
      response.resume();
      response.on('close', () => {
        const isAnswered = response.statusCode === 200 && response.complete;
        resolve(isAnswered ? performance.now() - start : Number.POSITIVE_INFINITY);
      });
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(Number.POSITIVE_INFINITY));
  });
