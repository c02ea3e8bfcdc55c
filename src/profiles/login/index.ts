import type { FastifyBaseLogger } from 'fastify';
import type { Static, TObject } from 'typebox';
import { isPassword, isPossiblePassword } from '../../auth/password.ts';
import { type Tokens, tokenLifetime } from '../../auth/token.ts';
import { ErrorBody, HttpError } from '../../http/errors.ts';
import { toAddressGroup } from '../../http/fair-shares.ts';
import { defineFeature, type Parts } from '../feature.ts';
import { defineRoute, type Route } from '../route.ts';
import { createCheckQueue, createLoginLimits, createSharedLogins } from './limits.ts';
import {
  type Account,
  type Accounts,
  Credentials,
  createAccounts,
  findUserProblems,
  IssuedToken,
  loginSettings,
} from './users.ts';

const loginResults = ['accepted', 'refused', 'delayed'] as const;

type LoginParts = Pick<Parts, 'database' | 'clock' | 'log' | 'meters'> & {
  settings: Static<TObject<typeof loginSettings>>;
};

/** Login: exchanges names and passwords for tokens. */
export const login = defineFeature({
  name: 'login',
  profiles: [
    {
      name: 'login',
      aliases: ['A'],
      mounts: ['/', '/protected'],
      summary: 'passwords for tokens',
      fixedAccess: 'open',
    },
  ],
  settings: loginSettings,
  findProblems: findUserProblems,
  findSharingProblems: ({ users, adminPassword, readerPassword }) =>
    users || (adminPassword !== undefined && readerPassword !== undefined)
      ? []
      : ['set users, or adminPassword and readerPassword'],
  create: (parts) => {
    const { settings, tokens, secrets, log } = parts;
    const accounts = createAccounts(secrets, tokens.revoke);
    const refused = createRefusedLogins(log);
    return {
      profiles: { login: [createLoginRoute(tokens, createAuthentication(parts, accounts, refused.report))] },
      notices: accounts.load(settings),
      reload: (changed) => accounts.load(changed),
      close: async () => refused.close(),
    };
  },
});

/** Finds the account for a name and a password; rejects with an HttpError if there is none. */
type Authenticate = (name: string, password: string, ip: string | undefined) => Promise<Account>;

const createLoginRoute = (tokens: Tokens, authenticate: Authenticate): Route =>
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
        token: tokens.sign(account),
        tokenType: 'Bearer' as const,
        expiresIn: tokenLifetime,
        role: account.role,
      };
    },
  });

/** Monotonic, unlike the wall clock. */
const readSeconds = (): number => performance.now() / 1000;

const createAuthentication = (
  { settings, database, clock, log, meters }: LoginParts,
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
const createRefusedLogins = (log: Pick<FastifyBaseLogger, 'warn'>) => {
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
