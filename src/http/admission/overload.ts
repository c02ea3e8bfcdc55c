import type { Server } from 'node:http';
import type { Distribution } from '../../metrics/meters.ts';
import { createUnavailable, type HttpError } from '../response/errors.ts';

/** Interval in milliseconds of the timer that measures the event-loop delay. */
const interval = 100;

/** Ticks without a request after which the timer stops: an idle server does not wake up for it. */
const quietTicks = 10;

/** Health checks, which work during overload too. */
const vital = /\/(?:health|ready|livez|readyz)$/;

/**
 * Returns a function that each request calls: it tells whether the event-loop delay exceeds `limit` milliseconds; with
 * 0, never. Timers take turns with requests, so a late timer means that requests wait as long. `delays` receives each
 * one in seconds.
 */
export const createLagProbe = (
  server: Server,
  limit: number,
  delays?: Pick<Distribution, 'observe'>,
): (() => boolean) => {
  let lastTick = 0;
  let quiet = 0;
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => {
    clearInterval(timer);
    timer = undefined;
  };
  const tick = (): void => {
    const now = performance.now();
    delays?.observe(Math.max(0, now - lastTick - interval) / 1000);
    lastTick = now;
    quiet += 1;
    if (quiet > quietTicks) stop();
  };
  server.once('close', stop);
  return () => {
    quiet = 0;
    const now = performance.now();
    if (timer === undefined) {
      lastTick = now;
      timer = setInterval(tick, interval).unref();
    }
    return limit > 0 && now - lastTick - interval > limit;
  };
};

/** True for the target of a health check. */
export const isVital = (url: string): boolean => vital.test(url.split('?', 1)[0] ?? '');

/** The response to requests that arrive during overload; nothing was done, so they may be sent again. */
export const createBusyError = (shed: 'connections' | 'event_loop_delay'): HttpError =>
  createUnavailable('The server is overloaded; try again in a second', shed);
