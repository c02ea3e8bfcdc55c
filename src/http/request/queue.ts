import { HttpError } from '../response/errors.ts';

interface Queue {
  /**
   * Runs the task when it is its turn. Rejects with the signal's reason if that is aborted while waiting, and with
   * an HttpError (503 with Retry-After) where there is no place in the line.
   */
  run<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

interface Limits {
  running: number;
  waiting: number;
  /** What those are told who find no place. */
  refusal: string;
}

/** At most `running` tasks at a time and `waiting` in line behind them, first come first served. */
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
      else if (line.length >= limits.waiting) throw toBusy(limits.refusal);
      else await waitInLine(line, signal);
      try {
        return await task();
      } finally {
        leave();
      }
    },
  };
};

/** The signal of those who wait as long as it takes. */
const never = new AbortController().signal;

const toBusy = (refusal: string): HttpError =>
  new HttpError('unavailable', refusal, { headers: { 'Retry-After': '1' } });

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
