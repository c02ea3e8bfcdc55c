import type { IncomingMessage, Server } from 'node:http';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Distribution } from '../metrics/meters.ts';
import { createUnavailable, HttpError } from './errors.ts';

/** Milliseconds between two ticks of the timer that measures the event-loop delay. */
const interval = 100;

/** Number of ticks without a request after which the timer stops, so that an idle server does not wake up. */
const quietTicks = 10;

/** Name that marks the configuration of a health check. Health checks also work during overload. */
export const vitalRoute = 'vitalRoute';

/**
 * Creates a function to call for each request. It returns true if the event-loop delay exceeds `limit` milliseconds,
 * and never for a limit of 0. Timers take turns with requests, so a late timer means that requests wait equally long.
 * `delays` receives each delay in seconds.
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

/** True for the configuration of a health check. */
export const isVitalRoute = (config: object | undefined): boolean => config !== undefined && vitalRoute in config;

/**
 * Creates a function that returns true for requests to health checks, including health checks that are added to the app
 * later.
 */
export const findVitalRoutes = (app: Pick<FastifyInstance, 'addHook'>): ((request: IncomingMessage) => boolean) => {
  const paths = new Set<string>();
  app.addHook('onRoute', ({ url, config }) => {
    if (isVitalRoute(config)) paths.add(url);
  });
  return ({ method, url = '' }) => (method === 'GET' || method === 'HEAD') && paths.has(url.split('?', 1)[0] ?? '');
};

/** Creates the error for requests that arrive during overload. Nothing was done, so clients may retry. */
export const createBusyError = (shed: 'connections' | 'event_loop_delay'): HttpError =>
  createUnavailable('The server is overloaded; try again in a second', shed);

/** Task that waits in a queue. */
export interface QueuedTask<T> {
  /** Description of the task, supplied by its caller. */
  readonly about: T;
  /** Starts the task, or refuses it with an error. */
  leave(error?: unknown): void;
}

interface QueueOptions<T> {
  /** Number of tasks that may run at a time, and number of tasks that may wait. */
  running: number;
  waiting: number;
  /** Message of the 503 for a task that arrives when too many are waiting. */
  refusal: string;
  /**
   * Chooses which of the waiting tasks runs next, or which one is refused. By default, the oldest runs next and the
   * newest is refused.
   */
  chooseNext?(line: readonly QueuedTask<T>[]): QueuedTask<T>;
  chooseRefused?(line: readonly QueuedTask<T>[]): QueuedTask<T>;
  /** Called when a task starts to run. */
  noteStart?(about: T): void;
}

/**
 * Creates a queue that runs a limited number of tasks at a time, while others wait. `run` rejects with the signal's
 * reason if the signal is aborted while the task waits. It rejects with an HttpError (503 with Retry-After) if too many
 * tasks are waiting.
 */
export const createQueue = <T = unknown>(options: QueueOptions<T>) => {
  const { chooseNext = ([oldest]) => oldest as QueuedTask<T>, chooseRefused = (all) => all.at(-1) as QueuedTask<T> } =
    options;
  let running = 0;
  /** Waiting tasks, oldest first. */
  const line: QueuedTask<T>[] = [];
  const waitForTurn = (signal: AbortSignal, about: T): Promise<void> =>
    new Promise((resolve, reject) => {
      const giveUp = (): void => task.leave(signal.reason);
      const task: QueuedTask<T> = {
        about,
        leave: (error) => {
          signal.removeEventListener('abort', giveUp);
          line.splice(line.indexOf(task), 1);
          if (error === undefined) resolve();
          else reject(error);
        },
      };
      signal.addEventListener('abort', giveUp, { once: true });
      line.push(task);
      if (line.length > options.waiting) chooseRefused(line).leave(createUnavailable(options.refusal, 'queue'));
    });
  const startNext = (): void => {
    running -= 1;
    if (line.length === 0) return;
    const task = chooseNext(line);
    begin(task.about);
    task.leave();
  };
  const begin = (about: T): void => {
    running += 1;
    options.noteStart?.(about);
  };
  return {
    run: async <R>(task: () => Promise<R>, signal: AbortSignal = never, about?: T): Promise<R> => {
      signal.throwIfAborted();
      if (running < options.running) begin(about as T);
      else await waitForTurn(signal, about as T);
      try {
        return await task();
      } finally {
        startNext();
      }
    },
  };
};

/** Signal for tasks without a signal of their own. */
const never = new AbortController().signal;

/** Milliseconds between interim responses to a client that has closed its sending side. */
const interimMs = 500;

/**
 * Creates a signal that is aborted if the connection closes before the response has been sent. Nobody receives the
 * error. A client that has closed its sending side may have left, or may be waiting for the response: interim responses
 * find out.
 */
export const createClientSignal = ({ raw }: FastifyReply): AbortSignal => {
  const controller = new AbortController();
  const abort = (): void => controller.abort(new HttpError('unavailable', 'The client has disconnected'));
  if (raw.closed) {
    abort();
    return controller.signal;
  }
  const { socket, httpVersion } = raw.req;
  const interim = setInterval(() => {
    // HTTP/1.0 has no interim responses.
    if (socket.readableEnded && !raw.headersSent && httpVersion === '1.1') raw.writeProcessing();
  }, interimMs);
  raw.once('close', () => {
    clearInterval(interim);
    if (!raw.writableFinished) abort();
  });
  return controller.signal;
};
