import { isPassword, isPossiblePassword } from '../../auth/password.ts';
import type { Tokens } from '../../auth/token.ts';
import { tokenLifetime } from '../../auth/token.ts';
import { ErrorBody, HttpError } from '../../http/errors.ts';
import { toAddressGroup } from '../../http/fair-shares.ts';
import type { Counter } from '../../metrics/meters.ts';
import { defineRoute, type Route } from '../route.ts';
import { createCheckQueue } from './check-queue.ts';
import type { LoginLimits } from './limits.ts';
import type { RefusedLogins } from './refused-logins.ts';
import { Credentials, IssuedToken } from './schema.ts';
import type { SharedLogins } from './shared-logins.ts';
import type { Account, Accounts } from './users.ts';

/** Hashing shares its few threads with syncing files: more at a time would delay the acknowledgement of alerts. */
const bounds = { running: 2, waiting: 8 };

export const loginResults = ['accepted', 'refused', 'delayed'] as const;

interface LoginParts {
  accounts: Accounts;
  tokens: Tokens;
  limits: LoginLimits;
  /** Logins at other instances, if there are any. */
  shared: SharedLogins | undefined;
  /** Counts logins by result. */
  logins: Counter;
  refused: RefusedLogins;
  /** Monotonic. */
  readSeconds(): number;
}

/** Profile `login`. */
export const createLoginRoutes = (parts: LoginParts): Route[] => {
  const authenticate = createAuthentication(parts);
  return [
    defineRoute({
      method: 'POST',
      path: '/api/auth/login',
      access: 'open',
      staysOpen: true,
      summary: 'Exchange a name and a password for a token',
      schema: {
        operationId: 'login',
        body: Credentials,
        response: { 200: IssuedToken, 401: ErrorBody, 429: ErrorBody },
      },
      handler: async ({ body: { Username = '', Password = '' }, ip }) => {
        const account = await authenticate(Username, Password, ip);
        return {
          token: parts.tokens.sign(account),
          tokenType: 'Bearer' as const,
          expiresIn: tokenLifetime,
          role: account.role,
        };
      },
    }),
  ];
};

/** Finds the account for a name and a password; rejects with an HttpError if there is none. */
const createAuthentication = ({ accounts, limits, shared, logins, refused, readSeconds }: LoginParts) => {
  const count = (result: (typeof loginResults)[number]): void => {
    logins.at(result).value += 1;
  };
  const queue = createCheckQueue({ ...bounds, now: readSeconds });
  /** The address group of each user's last login. */
  const lastGroups = new Map<string, string>();
  return async (name: string, password: string, ip: string | undefined): Promise<Account> => {
    const account = accounts.find(name);
    const user = account?.name;
    await shared?.refresh();
    const attempt = limits.begin(ip, user);
    if (typeof attempt === 'number') {
      count('delayed');
      throw toTooMany(attempt);
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
      const isKnown = lastGroups.get(account.name) === toAddressGroup(ip);
      const isRight = await queue.run(ip, isKnown, async () => isPassword(password, await account.readHash()));
      if (!isRight) {
        attempt.fail();
        await shared?.report({ ip, user, isRight: false });
        throw new HttpError('unauthorized', 'Invalid password');
      }
      // Usual logins leave nothing to tell.
      if (attempt.succeed()) await shared?.report({ ip, user, isRight: true });
      lastGroups.set(account.name, toAddressGroup(ip));
      count('accepted');
      return account;
    } catch (error) {
      if (error instanceof HttpError && error.kind === 'unauthorized') {
        count('refused');
        refused.report(user, ip, error.message);
      }
      throw error;
    } finally {
      attempt.end();
    }
  };
};

const toTooMany = (seconds: number): HttpError =>
  new HttpError('too-many', `Too many logins from this address; try again in ${seconds} s`, {
    headers: { 'retry-after': String(seconds) },
  });
