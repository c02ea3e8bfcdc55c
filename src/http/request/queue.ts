import type { FastifyReply } from 'fastify';
import { createUnavailable, HttpError } from '../response/errors.ts';

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
