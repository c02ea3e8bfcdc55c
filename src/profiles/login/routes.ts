import { tokenLifetime } from '../../auth/claims.ts';
import { createPasswordCheck } from '../../auth/password.ts';
import type { Tokens } from '../../auth/token.ts';
import { BusyError } from '../../auth/turns.ts';
import { HttpError } from '../../http/errors.ts';
import { ErrorBody } from '../../http/schema.ts';
import { defineRoute, type Route } from '../profile.ts';
import { Credentials, IssuedToken } from './schema.ts';
import type { Account } from './users.ts';

/** Profile `login`. */
export const createLoginRoutes = (accounts: ReadonlyMap<string, Account>, tokens: Tokens): Route[] => {
  const isPassword = createPasswordCheck();
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
        if (!(await isPassword(Password, await account.passwordHash).catch(refuseWhereBusy))) {
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

const refuseWhereBusy = (error: unknown): never => {
  if (!(error instanceof BusyError)) throw error;
  throw new HttpError('unavailable', 'Too many logins are being checked; try again in a second', {
    headers: { 'Retry-After': '1' },
  });
};
