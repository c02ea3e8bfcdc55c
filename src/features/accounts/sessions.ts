import type { FastifyRequest } from 'fastify';
import { needs } from '../../auth/access.ts';
import { principalOf, sessionOf } from '../../auth/guard.ts';
import {
  decodeToken,
  type FindGrant,
  longestSession,
  type Role,
  readSession,
  type Session,
  type Tokens,
  tokenLifetime,
} from '../../auth/token.ts';
import { ErrorBody, HttpError } from '../../http/errors.ts';
import { sendJson } from '../../http/json.ts';
import { defineRoute, type Route } from '../../kit/route.ts';
import type { Accounts } from './accounts.ts';
import { EndedSessions, SessionList, type ShownSession } from './schema.ts';
import { IssuedToken } from './users.ts';

/** How many are listed: of one user, and of all. */
const mostOfUser = 100;
const mostSessions = 10_000;

const longestClient = 200;

/** Times are Unix seconds. */
interface KnownSession extends Session {
  user: string;
  renewedAt: number;
  address: string | null;
  client: string | null;
}

/** A session that this process knows, and the generation of the account then. */
type OwnSession = KnownSession & { generation: string | undefined };

/** The sessions of all instances of a database. */
export interface SharedSessions {
  /** Tells the other instances. */
  write(session: KnownSession): void;
  /** The last so many of a user that were renewed after this second. */
  read(user: string, after: number, count: number): Promise<KnownSession[]>;
  /** Removes those of a user, which were ended. */
  remove(user: string): void;
}

export type Sessions = ReturnType<typeof createSessions>;

type Caller = Pick<FastifyRequest, 'ip' | 'headers'>;

/**
 * The sessions for which this process, or another instance, has issued tokens lately, for their users to see. Tokens are valid
 * without them.
 */
export const createSessions = (clock: () => Date, findGrant: FindGrant, shared?: SharedSessions) => {
  /** The one that was renewed last comes last. */
  const known = new Map<string, OwnSession>();
  const now = (): number => Math.floor(clock().getTime() / 1000);
  const isLive = ({ renewedAt }: KnownSession): boolean => renewedAt + tokenLifetime > now();
  const listOwn = (user: string): KnownSession[] => {
    const generation = findGrant(user)?.generation;
    return [...known.values()].filter((one) => one.user === user && one.generation === generation && isLive(one));
  };
  /** The one that was renewed last comes first. */
  const list = async (user: string): Promise<KnownSession[]> => {
    const others = (await shared?.read(user, now() - tokenLifetime, mostOfUser)) ?? [];
    const own = listOwn(user).reverse();
    const all = new Map(own.map((one) => [one.id, one]));
    for (const one of others.filter(isLive)) {
      if (one.renewedAt > (all.get(one.id)?.renewedAt ?? 0)) all.set(one.id, one);
    }
    return [...all.values()].sort((one, other) => other.renewedAt - one.renewedAt).slice(0, mostOfUser);
  };
  const note = (user: string, session: Session, { ip, headers }: Caller, renewedAt = now()): void => {
    known.delete(session.id);
    const client = headers['user-agent']?.slice(0, longestClient) ?? null;
    const noted: KnownSession = { ...session, user, renewedAt, address: ip ?? null, client };
    known.set(session.id, { ...noted, generation: findGrant(user)?.generation });
    shared?.write(noted);
    for (const [id, { renewedAt: at }] of known) {
      if (known.size <= mostSessions && at + tokenLifetime > now()) break;
      known.delete(id);
    }
    const own = listOwn(user);
    if (own.length > mostOfUser) known.delete(own[0]?.id ?? '');
  };
  return {
    note,
    /** Those of a user, also this one, which may be from before this process. */
    listWith: async (user: string, session: Session, caller: Caller): Promise<KnownSession[]> => {
      const found = await list(user);
      if (found.some(({ id }) => id === session.id)) return found;
      note(user, session, caller);
      return list(user);
    },
    /** Lists no longer those of a user, which were ended. */
    end: (user: string): void => {
      for (const one of known.values()) if (one.user === user) known.delete(one.id);
      shared?.remove(user);
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
  address,
  client,
  isCurrent: id === current.id,
});

const toTime = (seconds: number): string => new Date(seconds * 1000).toISOString();
