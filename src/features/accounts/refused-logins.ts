import type { FastifyBaseLogger } from 'fastify';

/** Maximum number of refused logins logged per minute. */
const linesPerMinute = 20;
const minute = 60_000;

export type RefusedLogins = ReturnType<typeof createRefusedLogins>;

/**
 * Creates the log of refused logins, with user and address. Never logs the password or an unknown name, because people
 * type passwords into the wrong field. Logs a limited number of lines per minute, so that guessing does not fill the
 * log, and one more line that counts the rest.
 */
export const createRefusedLogins = (log: Pick<FastifyBaseLogger, 'warn'>) => {
  let lines = 0;
  let suppressed = 0;
  let timer: NodeJS.Timeout | undefined;
  const endMinute = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (suppressed > 0) log.warn({ suppressed }, 'login: further refused logins of the last minute were not logged');
    lines = 0;
    suppressed = 0;
  };
  return {
    report: (user: string | undefined, ip: string | undefined, reason: string): void => {
      timer ??= setTimeout(endMinute, minute).unref();
      lines += 1;
      if (lines <= linesPerMinute) log.warn({ user, ip, reason }, 'login: a login was refused');
      else suppressed += 1;
    },
    /** Logs the number of further refusals in the current minute. */
    close: endMinute,
  };
};
