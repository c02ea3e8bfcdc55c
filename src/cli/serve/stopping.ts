import type { FastifyBaseLogger } from 'fastify';

/**
 * Signals that shut the server down in order. Faults in native code (SIGSEGV, SIGBUS, SIGABRT …) must not be handled,
 * because their handler would run again and again. Without a handler, the process ends immediately and a service
 * manager restarts it.
 */
const stopSignals = ['SIGTERM', 'SIGINT', 'SIGQUIT'] as const;

/**
 * Signals to ignore. Other daemons reopen their logs on these signals. By default, Node would open its debugger to
 * every local account, or exit without completing its work.
 */
const ignoredSignals = ['SIGUSR1', 'SIGUSR2'] as const;

interface Options {
  log: FastifyBaseLogger;
  /** Completes the work in progress. */
  close(): Promise<unknown>;
  /** Milliseconds allowed for `close`. */
  limitMs: number;
  /** Handler of SIGHUP. Without a handler, SIGHUP stops the server. */
  reload: (() => Promise<void>) | undefined;
}

/**
 * Stops the server after a signal, with exit code 0, or after an uncaught error, with exit code 1. The process ends
 * immediately with exit code 1 if a second signal or error arrives during shutdown, or if the time limit is reached.
 */
export const handleSignals = ({ log, close, limitMs, reload }: Options): void => {
  let isStopping = false;
  const endNow = (reason: string): never => {
    log.error(`${reason}: exiting without completing work in progress`);
    process.exit(1);
  };
  const stop = async (exitCode: 0 | 1): Promise<void> => {
    isStopping = true;
    setTimeout(() => endNow(`shutdown did not end within ${limitMs / 1000} s`), limitMs);
    try {
      await close();
      process.exit(exitCode);
    } catch (err) {
      log.error({ err }, 'the server did not shut down cleanly');
      process.exit(1);
    }
  };
  for (const signal of reload ? stopSignals : ([...stopSignals, 'SIGHUP'] as const)) {
    process.on(signal, () => {
      if (isStopping) endNow(`second ${signal} during shutdown`);
      log.info({ signal }, 'shutting down');
      void stop(0);
    });
  }
  for (const signal of ignoredSignals) process.on(signal, () => undefined);
  // Unhandled rejections arrive here, too.
  process.on('uncaughtException', (err) => {
    log.fatal({ err }, 'unexpected error');
    if (isStopping) endNow('error during shutdown');
    void stop(1);
  });
  if (reload) process.on('SIGHUP', () => void reload());
};
