import { needs } from '../../auth/access.ts';
import { principalOf, sessionOf } from '../../auth/guard.ts';
import { longestSession, type Session, type Tokens, tokenLifetime } from '../../auth/token.ts';
import { ErrorBody, HttpError } from '../../http/errors.ts';
import { sendJson } from '../../http/json.ts';
import { defineRoute, type Route } from '../../kit/route.ts';
import type { Accounts } from './accounts.ts';
import { EndedSessions, SessionList, type ShownSession } from './schema.ts';
import { issueToken, type KnownSession, type Sessions } from './sessions.ts';
import { IssuedToken } from './users.ts';

interface SessionParts {
  tokens: Tokens;
  sessions: Sessions;
  accounts: Accounts;
  clock: () => Date;
  /** Revokes all earlier tokens of a user. Resolves to the time of the revocation in Unix milliseconds. */
  endAll(user: string): Promise<number>;
}

/** Access rule for the caller's own sessions. The setting `access` cannot change it. */
const own = { ...needs('account:own'), staysOpen: true } as const;

export const createSessionRoutes = (parts: SessionParts): Route[] => [
  createRenewRoute(parts),
  createListRoute(parts),
  createEndRoute(parts),
];

const createRenewRoute = (parts: SessionParts): Route =>
  defineRoute({
    method: 'POST',
    path: '/api/sessions/renew',
    ...own,
    summary: 'Exchange a valid token for a new one, up to 30 days after the login',
    schema: { operationId: 'renewSession', response: { 200: IssuedToken, 401: ErrorBody, 409: ErrorBody } },
    handler: async (request, reply) => {
      const { name, role } = principalOf(request);
      const session = sessionOf(request);
      if (parts.accounts.find(name)?.role !== role) {
        throw new HttpError(
          'wrong-state',
          'This token does not belong to an account on this server: get a new token from its issuer',
        );
      }
      if (parts.clock().getTime() / 1000 - session.since > longestSession) {
        throw new HttpError('unauthorized', 'The session began over 30 days ago: log in again');
      }
      return sendJson(reply, issueToken(parts, { name, role }, request, session));
    },
  });

const createListRoute = ({ sessions }: SessionParts): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/sessions',
    ...own,
    summary: 'List your own sessions known to this server',
    schema: { operationId: 'listSessions', response: { 200: SessionList } },
    handler: async (request, reply) => {
      const { name } = principalOf(request);
      const current = sessionOf(request);
      const all = await sessions.listWith(name, current, request);
      const data = all.map((session) => toShown(session, current));
      return sendJson(reply, { count: data.length, data });
    },
  });

const createEndRoute = ({ endAll }: SessionParts): Route =>
  defineRoute({
    method: 'DELETE',
    path: '/api/sessions',
    ...own,
    summary: 'Log out everywhere: end all your sessions, including this one',
    schema: { operationId: 'endSessions', response: { 200: EndedSessions } },
    handler: async (request, reply) => {
      const { name } = principalOf(request);
      const at = await endAll(name);
      return sendJson(reply, { endedAt: new Date(at).toISOString() });
    },
  });

const toShown = ({ id, since, renewedAt, address, client }: KnownSession, current: Session): ShownSession => ({
  id,
  startedAt: toTime(since),
  renewedAt: toTime(renewedAt),
  expiresAt: toTime(renewedAt + tokenLifetime),
  address,
  client,
  isCurrent: id === current.id,
});

const toTime = (seconds: number): string => new Date(seconds * 1000).toISOString();
