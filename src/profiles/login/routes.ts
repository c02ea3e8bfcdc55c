import { tokenLifetime } from '../../auth/claims.ts';
import { isPassword } from '../../auth/password.ts';
import type { Tokens } from '../../auth/token.ts';
import { HttpError } from '../../http/errors.ts';
import { createQueue } from '../../http/queue.ts';
import { ErrorBody } from '../../http/schema.ts';
import { defineRoute, type Route } from '../profile.ts';
import { Credentials, IssuedToken } from './schema.ts';
import type { Account } from './users.ts';

/**
 * Hashing runs on the threads that also sync files, of which there are few: more at a time would keep an alert from
 * being acknowledged.
 */
const limits = {
  running: 2,
  waiting: 8,
  refusal: 'Too many logins are being checked; try again in a second',
};

/** Profile `login`. */
export const createLoginRoutes = (accounts: ReadonlyMap<string, Account>, tokens: Tokens): Route[] => {
  const queue = createQueue(limits);
  return [
    defineRoute({
      method: 'POST',
      path: '/api/auth/login',
      access: 'open',
      summary: 'Exchange a name and a password for a token',
      schema: {
        body: Credentials,
        response: { 200: IssuedToken, 400: ErrorBody, 401: ErrorBody, 503: ErrorBody },
      },
      handler: async ({ body: { Username = '', Password = '' } }) => {
        const account = accounts.get(Username);
        if (!account) throw new HttpError('unauthorized', 'Unknown user');
        const hash = await account.passwordHash;
        if (!(await queue.run(() => isPassword(Password, hash)))) {
          throw new HttpError('unauthorized', 'Invalid password');
        }
        return {
          token: await tokens.sign(account),
          tokenType: 'Bearer' as const,
          expiresIn: tokenLifetime,
          role: account.role,
        };
      },
    }),
  ];
};
