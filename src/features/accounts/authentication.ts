import type { Static, TObject } from 'typebox';
import { isPassword, isPossiblePassword } from '../../auth/password.ts';
import { HttpError } from '../../http/errors.ts';
import { toAddressGroup } from '../../http/fair-shares.ts';
import type { Parts } from '../../kit/feature.ts';
import type { Accounts } from './accounts.ts';
import { createCheckQueue } from './check-queue.ts';
import { createLoginLimits } from './login-limits.ts';
import type { RefusedLogins } from './refused-logins.ts';
import { createSharedLogins } from './shared-logins.ts';
import type { Account } from './user-kind.ts';
import type { loginSettings } from './users.ts';

const loginResults = ['accepted', 'refused', 'delayed'] as const;

type LoginParts = Pick<Parts, 'storage' | 'clock' | 'log' | 'meters'> & {
  settings: Static<TObject<typeof loginSettings>>;
};

/** Returns the account for a name and password. Rejects with an HttpError if either is wrong. */
export type Authenticate = (name: string, password: string, ip: string | undefined) => Promise<Account>;

/** Returns the seconds on a monotonic clock. */
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
    (ip) => log.warn({ ip }, 'login: failed logins from this address are now delayed'),
  );
  /** Logins checked by other instances that share the database. */
  const shared = database && createSharedLogins(database, clock, limits.learn);
  const logins = meters.counter('signalbox_logins_total', 'Logins by result.', ['result'], loginResults);
  const count = (result: (typeof loginResults)[number]): void => {
    logins.at(result).value += 1;
  };
  const queue = createCheckQueue(readSeconds);
  /** Address group from which each user last logged in. */
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
      // A password that cannot exist is no guess, so it does not count as wrong.
      if (!isPossiblePassword(password)) throw new HttpError('unauthorized', 'Invalid password');
      const check = async (): Promise<boolean> => isPassword(password, await account.readHash());
      const isKnown = lastGroups.get(account.name) === group;
      const isRight = await queue.run(check, undefined, { group, isKnown });
      if (!isRight) {
        attempt.fail();
        await shared?.report({ ip, user, isRight: false });
        throw new HttpError('unauthorized', 'Invalid password');
      }
      // The account was deleted or changed during the check.
      if (accounts.find(name)?.checked !== account.checked) throw new HttpError('unauthorized', 'Invalid password');
      // A success without earlier failures does not affect other instances.
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
