import type { FastifyBaseLogger } from 'fastify';
import type { Static, TObject } from 'typebox';
import { isPassword, isPossiblePassword } from '../../auth/password.ts';
import { HttpError } from '../../http/errors.ts';
import { toAddressGroup } from '../../http/fair-shares.ts';
import type { Parts } from '../../kit/feature.ts';
import type { Accounts } from './accounts.ts';
import { createCheckQueue, createLoginLimits, createSharedLogins } from './limits.ts';
import type { Account } from './user-kind.ts';
import type { loginSettings } from './users.ts';

const loginResults = ['accepted', 'refused', 'delayed'] as const;

type LoginParts = Pick<Parts, 'storage' | 'clock' | 'log' | 'meters'> & {
  settings: Static<TObject<typeof loginSettings>>;
};

/** Finds the account for a name and a password; rejects with an HttpError if there is none. */
export type Authenticate = (name: string, password: string, ip: string | undefined) => Promise<Account>;

/** Monotonic, unlike the wall clock. */
const readSeconds = (): number => performance.now() / 1000;

export const createAuthentication = (
  { settings, storage: { database }, clock, log, meters }: LoginParts,
  accounts: Accounts,
  reportRefused: RefusedLogins['report'],
): Authenticate => {
  const limits = createLoginLimits(
    {
      perAddress: settings.loginTriesPerAddress,
      perUser: settings.loginTriesPerUser,
      inTotal: settings.loginTriesInTotal,
      maxDelay: settings.loginMaxDelay,
    },
    readSeconds,
    (ip) => log.warn({ ip }, 'login: wrong logins from this address are now delayed'),
  );
  /** Logins at other instances, if there are any. */
  const shared = database && createSharedLogins(database, clock, limits.learn);
  const logins = meters.counter('signalbox_logins_total', 'Logins by result.', ['result'], loginResults);
  const count = (result: (typeof loginResults)[number]): void => {
    logins.at(result).value += 1;
  };
  const queue = createCheckQueue(readSeconds);
  /** The address group of each user's last login. */
  const lastGroups = new Map<string, string>();
  return async (name, password, ip) => {
    const account = accounts.find(name);
    const user = account?.name;
    const group = toAddressGroup(ip);
    await shared?.refresh();
    const attempt = limits.begin(ip, user);
    if (typeof attempt === 'number') {
      count('delayed');
      throw new HttpError('too-many', `Too many logins from this address; try again in ${attempt} s`, {
        headers: { 'retry-after': String(attempt) },
      });
    }
    try {
      if (!account) {
        if (name !== '') {
          attempt.fail();
          await shared?.report({ ip, user, isRight: false });
        }
        throw new HttpError('unauthorized', 'Unknown user');
      }
      // Not counted as wrong, because it cannot be a guess.
      if (!isPossiblePassword(password)) throw new HttpError('unauthorized', 'Invalid password');
      const check = async (): Promise<boolean> => isPassword(password, await account.readHash());
      const isKnown = lastGroups.get(account.name) === group;
      const isRight = await queue.run(check, undefined, { group, isKnown });
      if (!isRight) {
        attempt.fail();
        await shared?.report({ ip, user, isRight: false });
        throw new HttpError('unauthorized', 'Invalid password');
      }
      // Deleted or changed meanwhile.
      if (accounts.find(name)?.checked !== account.checked) throw new HttpError('unauthorized', 'Invalid password');
      // Usual logins leave nothing to tell.
      if (attempt.succeed()) await shared?.report({ ip, user, isRight: true });
      lastGroups.set(account.name, group);
      count('accepted');
      return account;
    } catch (error) {
      if (error instanceof HttpError && error.kind === 'unauthorized') {
        count('refused');
        reportRefused(user, ip, error.message);
      }
      throw error;
    } finally {
      attempt.end();
    }
  };
};

/** Lines in each minute; further refused logins of it are counted. */
const linesPerMinute = 20;
const minute = 60_000;

type RefusedLogins = ReturnType<typeof createRefusedLogins>;

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
