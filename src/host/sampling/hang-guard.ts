import { setTimeout } from 'node:timers/promises';

/** Runs a read that may hang; resolves to null if it takes longer than `limitMs`, or an earlier one still hangs. */
export type HangGuard = <T>(read: () => Promise<T>, limitMs: number) => Promise<T | null>;

/**
 * A read hangs if the server of a file system is gone or a process is stuck; it then blocks one of the few threads of
 * Node's pool. Reads through one guard run one at a time, and none starts while one hangs, so at most one thread is lost.
 */
export const createHangGuard = (): HangGuard => {
  let turn: Promise<unknown> = Promise.resolve();
  let running = false;
  const run = <T>(read: () => Promise<T>, limitMs: number): Promise<T | null> => {
    running = true;
    const result = read().finally(() => {
      running = false;
    });
    return waitAtMost(limitMs, result);
  };
  return (read, limitMs) => {
    const mine = turn.then(() => (running ? null : run(read, limitMs)));
    turn = mine.catch(() => null);
    return mine;
  };
};

/** The result of the work, or null if it takes longer; the work then continues unobserved. */
export const waitAtMost = <T>(limitMs: number, work: Promise<T>): Promise<T | null> => {
  const timer = new AbortController();
  const limit = setTimeout(limitMs, null, { signal: timer.signal });
  return Promise.race([work, limit]).finally(() => timer.abort());
};
