import { StoreUnavailable } from '../lib/expected-errors.ts';
import { createSerial } from '../lib/scheduling.ts';

/**
 * Runs the work at an interval and on demand, one run at a time. `run` never rejects. `onFailed` gets the errors of
 * runs, except errors about an unavailable store, because the store logs its own line.
 */
export const createPeriodic = (intervalMs: number, work: () => Promise<void>, onFailed: (err: unknown) => void) => {
  const serially = createSerial();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const run = (): Promise<void> =>
    serially(async () => {
      if (!isClosed) await work();
    }).catch((err: unknown) => {
      if (!(err instanceof StoreUnavailable)) onFailed(err);
    });
  return {
    run,
    start: (): void => {
      timer = setInterval(() => void run(), intervalMs).unref();
      void run();
    },
    /** Resolves once the current run has ended. */
    close: (): Promise<void> => {
      isClosed = true;
      clearInterval(timer);
      return serially(async () => undefined);
    },
  };
};
