import type { FastifyRequest } from 'fastify';
import {
  decodeToken,
  type FindGrant,
  type Role,
  readSession,
  type Session,
  type Tokens,
  tokenLifetime,
} from '../../auth/token.ts';

/** Maximum number of sessions in memory, per user and in total. */
const maxUserSessions = 100;
const maxSessions = 10_000;

const maxClientLength = 200;

/** Session with its user and client. Times are Unix seconds. */
export interface KnownSession extends Session {
  user: string;
  renewedAt: number;
  address: string | null;
  client: string | null;
}

/** Session known to this process, with the account's generation at that time. */
type OwnSession = KnownSession & { generation: string | undefined };

/** Sessions of all instances that share a database. */
export interface SharedSessions {
  /** Stores a session for the other instances. */
  write(session: KnownSession): void;
  /** Returns up to `count` sessions of a user that were renewed after a given second, most recently renewed first. */
  read(user: string, after: number, count: number): Promise<KnownSession[]>;
  /** Removes a user's ended sessions. */
  remove(user: string): void;
}

export type Sessions = ReturnType<typeof createSessions>;

type Caller = Pick<FastifyRequest, 'ip' | 'headers'>;

/**
 * Creates the list of sessions whose tokens this process or another instance has recently issued. The list only informs
 * users. Tokens are valid even without an entry.
 */
export const createSessions = (clock: () => Date, findGrant: FindGrant, shared?: SharedSessions) => {
  /** Sessions by id, least recently renewed first. */
  const known = new Map<string, OwnSession>();
  const now = (): number => Math.floor(clock().getTime() / 1000);
  const isLive = ({ renewedAt }: KnownSession): boolean => renewedAt + tokenLifetime > now();
  const listOwn = (user: string): KnownSession[] => {
    const generation = findGrant(user)?.generation;
    return [...known.values()].filter((one) => one.user === user && one.generation === generation && isLive(one));
  };
  /** Lists the sessions of a user, most recently renewed first. */
  const list = async (user: string): Promise<KnownSession[]> => {
    const others = (await shared?.read(user, now() - tokenLifetime, maxUserSessions)) ?? [];
    const own = listOwn(user).reverse();
    const all = new Map(own.map((one) => [one.id, one]));
    for (const one of others.filter(isLive)) {
      if (one.renewedAt > (all.get(one.id)?.renewedAt ?? 0)) all.set(one.id, one);
    }
    return [...all.values()].sort((one, other) => other.renewedAt - one.renewedAt).slice(0, maxUserSessions);
  };
  const note = (user: string, session: Session, { ip, headers }: Caller, renewedAt = now()): void => {
    known.delete(session.id);
    const client = headers['user-agent']?.slice(0, maxClientLength) ?? null;
    const stored: KnownSession = { ...session, user, renewedAt, address: ip ?? null, client };
    known.set(session.id, { ...stored, generation: findGrant(user)?.generation });
    shared?.write(stored);
    for (const [id, { renewedAt: at }] of known) {
      if (known.size <= maxSessions && at + tokenLifetime > now()) break;
      known.delete(id);
    }
    const own = listOwn(user);
    if (own.length > maxUserSessions) known.delete(own[0]?.id ?? '');
  };
  return {
    note,
    /** Lists the sessions of a user. Includes the session of this request, even if it is older than this process. */
    listWith: async (user: string, session: Session, caller: Caller): Promise<KnownSession[]> => {
      const found = await list(user);
      if (found.some(({ id }) => id === session.id)) return found;
      note(user, session, caller);
      return list(user);
    },
    /** Removes all of a user's ended sessions from the list. */
    end: (user: string): void => {
      for (const one of known.values()) if (one.user === user) known.delete(one.id);
      shared?.remove(user);
    },
  };
};

/** Issues a token and lists its session. Without `session`, a new session begins. */
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
