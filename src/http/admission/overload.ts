import { performance } from 'node:perf_hooks';
import type { FastifyInstance } from 'fastify';

/** Milliseconds between the turns of the timer that shows how far the program is behind. */
const interval = 100;

/**
 * Says whether the program is more than `limit` milliseconds behind: its timers, which take turns with requests, have
 * waited that long. So what comes in while it works off too much is refused at once, and once it has caught up it
 * accepts again. 0: never.
 */
export const createLagProbe = (app: FastifyInstance, limit: number): (() => boolean) => {
  if (limit === 0) return () => false;
  let lastTurn = Number.POSITIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  const takeTurn = (): void => {
    lastTurn = performance.now();
  };
  // Not before: starting takes its time too.
  app.addHook('onListen', async () => {
    takeTurn();
    timer = setInterval(takeTurn, interval).unref();
  });
  app.addHook('onClose', async () => clearInterval(timer));
  return () => performance.now() - lastTurn - interval > limit;
};
