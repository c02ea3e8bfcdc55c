import type { Server } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { Distribution } from '../metrics/meters.ts';
import { createUnavailable, HttpError } from './errors.ts';

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

interface Queue {
  /**
   * Runs the task when it is its turn. Rejects with the signal's reason if that is aborted while waiting, and with
   * an HttpError (503 with Retry-After) if the queue is full.
   */
  run<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

interface Limits {
  running: number;
  waiting: number;
  /** The message of the 503 when the queue is full. */
  refusal: string;
}

/** Runs at most `running` tasks at a time, with `waiting` more in line, first come first served. */
export const createQueue = (limits: Limits): Queue => {
  let running = 0;
  const line: (() => void)[] = [];
  const leave = (): void => {
    const next = line.shift();
    if (next) next();
    else running -= 1;
  };
  return {
    run: async (task, signal = never) => {
      signal.throwIfAborted();
      if (running < limits.running) running += 1;
      else if (line.length >= limits.waiting) throw createUnavailable(limits.refusal, 'queue');
      else await waitInLine(line, signal);
      try {
        return await task();
      } finally {
        leave();
      }
    },
  };
};

/** For tasks without a signal. */
const never = new AbortController().signal;

const waitInLine = (line: (() => void)[], signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const start = (): void => {
      signal.removeEventListener('abort', giveUp);
      resolve();
    };
    const giveUp = (): void => {
      line.splice(line.indexOf(start), 1);
      reject(signal.reason);
    };
    line.push(start);
    signal.addEventListener('abort', giveUp, { once: true });
  });

/** Aborted if the connection closes before the response has been sent; nobody receives the error. */
export const createClientSignal = ({ raw }: FastifyReply): AbortSignal => {
  const controller = new AbortController();
  const abort = (): void => controller.abort(new HttpError('unavailable', 'The client has disconnected'));
  if (raw.closed) abort();
  raw.once('close', () => {
    if (!raw.writableFinished) abort();
  });
  return controller.signal;
};
