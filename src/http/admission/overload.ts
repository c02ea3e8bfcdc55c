import type { Server } from 'node:http';
import { createUnavailable, type HttpError } from '../response/errors.ts';

/** Interval in milliseconds of the timer that measures the event-loop delay. */
const interval = 100;

/** Health checks, which work during overload too. */
const vital = /\/(?:health|ready)$/;

/**
 * Returns a function that tells whether the event-loop delay exceeds `limit` milliseconds; with 0, never. Timers take
 * turns with requests, so a late timer means that requests wait as long.
 */
export const createLagProbe = (server: Server, limit: number): (() => boolean) => {
  if (limit === 0) return () => false;
  let lastTick = Number.POSITIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  const tick = (): void => {
    lastTick = performance.now();
  };
  // Not earlier: startup itself blocks the event loop.
  server.once('listening', () => {
    tick();
    timer = setInterval(tick, interval).unref();
  });
  server.once('close', () => clearInterval(timer));
  return () => performance.now() - lastTick - interval > limit;
};

/** True for the target of a health check. */
export const isVital = (url: string): boolean => vital.test(url.split('?', 1)[0] ?? '');

/** The response to requests that arrive during overload; nothing was done, so they may be sent again. */
export const createBusyError = (): HttpError => createUnavailable('The server is overloaded; try again in a second');
