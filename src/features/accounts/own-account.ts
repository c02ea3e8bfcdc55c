import Type from 'typebox';
import { needs } from '../../auth/access.ts';
import { principalOf, sessionOf } from '../../auth/guard.ts';
import { hasRole, rightNames } from '../../auth/rights.ts';
import type { Tokens } from '../../auth/token.ts';
import { ErrorBody, HttpError } from '../../http/errors.ts';
import { sendJson } from '../../http/json.ts';
import { assertOwnMembers } from '../../kit/own-members.ts';
import { defineRoute, type Route } from '../../kit/route.ts';
import { defineShape, nullable } from '../../kit/shape.ts';
import type { Accounts } from './accounts.ts';
import type { Authenticate } from './authentication.ts';
import { issueToken, type Sessions } from './sessions.ts';
import type { UserKeeper } from './user-keeper.ts';
import { accountOrigin, IssuedToken, RoleName } from './users.ts';

const RightName = Type.Enum(rightNames, { type: 'string', examples: ['incidents:read'] });

const OwnAccount = defineShape('OwnAccount', {
  name: Type.String({ examples: ['anna'] }),
  role: RoleName,
  origin: nullable(accountOrigin, '`null` if the token comes from another issuer.'),
  rights: Type.Array(RightName, { description: 'Rights of the caller.' }),
});

const NewPassword = defineShape('NewPassword', {
  currentPassword: Type.String({ writeOnly: true, examples: ['correct horse'] }),
  password: Type.String({
    writeOnly: true,
    description: 'The new password, at least 12 characters.',
    examples: ['correct horse battery staple'],
  }),
});

interface OwnAccountParts {
  accounts: Accounts;
  tokens: Tokens;
  sessions: Sessions;
  authenticate: Authenticate;
  keeper: UserKeeper;
}

/** Creates the routes for users to read and change their own accounts. */
export const createOwnAccountRoutes = (parts: OwnAccountParts): Route[] => [
  createOwnAccountRoute(parts),
  createPasswordRoute(parts),
];

const createOwnAccountRoute = ({ accounts }: OwnAccountParts): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/account',
    ...needs('account:own'),
    staysOpen: true,
    summary: 'Get your name, role and rights',
    schema: { operationId: 'getOwnAccount', response: { 200: OwnAccount } },
    handler: async (request, reply) => {
      const { name, role } = principalOf(request);
      const origin = accounts.find(name)?.origin ?? null;
      return sendJson(reply, { name, role, origin, rights: rightNames.filter((right) => hasRole(right, role)) });
    },
  });

const createPasswordRoute = (parts: OwnAccountParts): Route =>
  defineRoute({
    method: 'PUT',
    path: '/api/account/password',
    ...needs('account:own'),
    staysOpen: true,
    changesAccess: true,
    summary: 'Change your own password and end your other sessions',
    schema: {
      operationId: 'changeOwnPassword',
      body: NewPassword,
      response: { 200: IssuedToken, 403: ErrorBody, 409: ErrorBody, 429: ErrorBody },
    },
    handler: async (request, reply) => {
      assertOwnMembers(request.body, NewPassword);
      const { currentPassword, password } = request.body;
      const { name } = principalOf(request);
      const session = sessionOf(request);
      parts.keeper.requireChangeable(name);
      await parts.authenticate(name, currentPassword, request.ip).catch((error: unknown) => {
        const isWrong = error instanceof HttpError && error.kind === 'unauthorized';
        throw isWrong ? new HttpError('forbidden', 'currentPassword is wrong') : error;
      });
      const { role } = await parts.keeper.changePassword(name, password);
      parts.sessions.end(name);
      return sendJson(reply, issueToken(parts, { name, role }, request, session));
    },
  });
