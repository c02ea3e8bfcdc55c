import type { Server } from 'node:http';
import { createUnavailable, type HttpError } from '../response/errors.ts';

/** Milliseconds between the ticks of the timer that shows the event-loop delay. */
const interval = 100;

/** Routes that people and their tools use to see whether the service works; they answer during overload, too. */
const vital = /\/(?:health|ready)$/;

/**
 * Measures whether the event-loop delay is over `limit` milliseconds: timers take turns with requests, so a late timer
 * means that requests wait as long. 0: never.
 */
export const createLagProbe = (server: Server, limit: number): (() => boolean) => {
  if (limit === 0) return () => false;
  let lastTick = Number.POSITIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  const tick = (): void => {
    lastTick = performance.now();
  };
  // Not earlier: startup takes its time, too.
  server.once('listening', () => {
    tick();
    timer = setInterval(tick, interval).unref();
  });
  server.once('close', () => clearInterval(timer));
  return () => performance.now() - lastTick - interval > limit;
};

/** Whether a target is that of a health route. */
export const isVital = (url: string): boolean => vital.test(url.split('?', 1)[0] ?? '');

/** The response to requests that arrive during overload; nothing was done, so they may be sent again. */
export const createBusyError = (): HttpError =>
  createUnavailable('The server has too much to do; try again in a second');
