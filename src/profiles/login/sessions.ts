import type { FastifyRequest } from 'fastify';
import { principalOf, sessionOf } from '../../auth/guard.ts';
import { decodeToken, type Role, readSession, type Session, type Tokens, tokenLifetime } from '../../auth/token.ts';
import { ErrorBody, HttpError } from '../../http/errors.ts';
import { sendJson } from '../../http/json.ts';
import { defineRoute, type Route } from '../route.ts';
import type { Accounts } from './accounts.ts';
import { EndedSessions, SessionList, type ShownSession } from './schema.ts';
import { IssuedToken } from './users.ts';

/** Seconds after which somebody has to log in again, however often a session was renewed: 30 days. */
const longestSession = 30 * 24 * 3600;

/** How many are listed: of one user, and of all. */
const mostOfUser = 100;
const mostSessions = 10_000;

const longestClient = 200;

/** A session that this process knows. Times are Unix seconds. */
interface KnownSession extends Session {
  user: string;
  renewedAt: number;
  address: string | null;
  client: string | null;
}

export type Sessions = ReturnType<typeof createSessions>;

type Caller = Pick<FastifyRequest, 'ip' | 'headers'>;

/** The sessions for which this process has issued tokens lately, for their users to see. Tokens are valid without them. */
export const createSessions = (clock: () => Date) => {
  /** The one that was renewed last comes last. */
  const known = new Map<string, KnownSession>();
  const now = (): number => Math.floor(clock().getTime() / 1000);
  const list = (user: string): KnownSession[] =>
    [...known.values()].filter((one) => one.user === user && one.renewedAt + tokenLifetime > now());
  const note = (user: string, session: Session, { ip, headers }: Caller, renewedAt = now()): void => {
    known.delete(session.id);
    const client = headers['user-agent']?.slice(0, longestClient) ?? null;
    known.set(session.id, { ...session, user, renewedAt, address: ip ?? null, client });
    for (const [id, { renewedAt: at }] of known) {
      if (known.size <= mostSessions && at + tokenLifetime > now()) break;
      known.delete(id);
    }
    const own = list(user);
    if (own.length > mostOfUser) known.delete(own[0]?.id ?? '');
  };
  return {
    list,
    note,
    /** Notes one that began before this process, or at another instance. */
    noteUnknown: (user: string, session: Session, caller: Caller): void => {
      if (!known.has(session.id)) note(user, session, caller);
    },
    /** Forgets those of a user whose tokens are refused up to this second. */
    end: (user: string, until = Number.POSITIVE_INFINITY): void => {
      for (const { id, renewedAt } of list(user)) if (renewedAt <= until) known.delete(id);
    },
  };
};

/** Issues a token and notes its session, which begins with it unless one goes on. */
export const issueToken = (
  { tokens, sessions }: { tokens: Tokens; sessions: Sessions },
  user: { name: string; role: Role },
  caller: Caller,
  session?: Session,
) => {
  const token = tokens.sign(user, session);
  sessions.note(user.name, session ?? readSession(token), caller, Number(decodeToken(token).claims['iat']));
  return { token, tokenType: 'Bearer' as const, expiresIn: tokenLifetime, role: user.role };
};

interface SessionParts {
  tokens: Tokens;
  sessions: Sessions;
  accounts: Accounts;
  clock: () => Date;
  /** Stores that all tokens of a user from before now count for nothing; resolves to when that was. */
  endAll(user: string): Promise<number>;
}

/** Whatever the setting `access` says, users may do this with their own sessions. */
const own = { access: 'token', staysOpen: true } as const;

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
    summary: 'Exchange a token that is still valid for another one, for 30 days after the login',
    schema: { operationId: 'renewSession', response: { 200: IssuedToken, 401: ErrorBody, 409: ErrorBody } },
    handler: async (request, reply) => {
      const { name, role } = principalOf(request);
      const session = sessionOf(request);
      if (parts.accounts.find(name)?.role !== role) {
        throw new HttpError(
          'wrong-state',
          'The token is of no account of this server: get another one where it comes from',
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
    summary: 'List your own sessions that this server knows',
    schema: { operationId: 'listSessions', response: { 200: SessionList } },
    handler: async (request, reply) => {
      const { name } = principalOf(request);
      const current = sessionOf(request);
      sessions.noteUnknown(name, current, request);
      const data = sessions.list(name).map((session) => toShown(session, current));
      return sendJson(reply, { count: data.length, data: data.reverse() });
    },
  });

const createEndRoute = ({ endAll }: SessionParts): Route =>
  defineRoute({
    method: 'DELETE',
    path: '/api/sessions',
    ...own,
    summary: 'Log out everywhere: end all your sessions, this one too',
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
  ...{ address, client, isCurrent: id === current.id },
});

const toTime = (seconds: number): string => new Date(seconds * 1000).toISOString();
