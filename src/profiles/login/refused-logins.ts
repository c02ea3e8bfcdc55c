import type { FastifyBaseLogger } from 'fastify';

/** Lines in each minute; further refused logins of it are counted. */
const linesPerMinute = 20;
const minute = 60_000;

export type RefusedLogins = ReturnType<typeof createRefusedLogins>;

/**
 * Logs refused logins with user and address, never with the password. Nor with a name that no user has: people type passwords
 * into the wrong field. Guessing must not fill the log: of each minute only the first are logged, and one line counts the
 * others.
 */
export const createRefusedLogins = (log: Pick<FastifyBaseLogger, 'warn'>) => {
  let lines = 0;
  let suppressed = 0;
  let timer: NodeJS.Timeout | undefined;
  const endMinute = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (suppressed > 0) log.warn({ suppressed }, 'login: more logins were refused in the last minute');
    lines = 0;
    suppressed = 0;
  };
  return {
    report: (user: string | undefined, ip: string | undefined, reason: string): void => {
      timer ??= setTimeout(endMinute, minute).unref();
      lines += 1;
      if (lines <= linesPerMinute) log.warn({ user, ip, reason }, 'login: refused');
      else suppressed += 1;
    },
    /** Logs the count of the current minute. */
    close: endMinute,
  };
};
