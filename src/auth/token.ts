import type { KeyObject } from 'node:crypto';
import { compactVerify, errors, SignJWT } from 'jose';
import {
  assertHeader,
  assertNotExpired,
  clockTolerance,
  type Principal,
  type Role,
  tokenLifetime,
  toPrincipal,
} from './claims.ts';
import { decodeToken, toFailure } from './decode.ts';
import type { Keys } from './keys.ts';

export interface Tokens {
  /** A signed token for the user, valid for `tokenLifetime` seconds from now. */
  sign(user: { name: string; role: Role }): Promise<string>;
  /** The user that the token identifies; throws a TokenError whose message is the 401's text. */
  verify(token: string): Promise<Principal>;
  /** Refuses the user's tokens of the past from now on; later ones are accepted. */
  revoke(name: string): void;
}

/** Signs HS256 tokens (RFC 7519) with the current key, and verifies those of every key. */
export const createTokens = (keys: Keys, issuer: string, clock: () => Date): Tokens => {
  const now = () => Math.floor(clock().getTime() / 1000);
  /** When tokens of a user were revoked last, in Unix seconds; kept until the last of them has expired. */
  const revoked = new Map<string, number>();
  const revokedAt = (name: string): number => revoked.get(name) ?? Number.NEGATIVE_INFINITY;
  const header = { alg: 'HS256', typ: 'JWT', ...(keys.currentId && { kid: keys.currentId }) };
  return {
    sign: ({ name, role }) => {
      // Times are in seconds: a token of the second in which others were revoked must not count as one of them.
      const issuedAt = Math.max(now(), revokedAt(name) + 1);
      return new SignJWT({ sub: name, role, iss: issuer, iat: issuedAt, exp: issuedAt + tokenLifetime })
        .setProtectedHeader(header)
        .sign(keys.current);
    },
    // The order decides which error a token with several faults gets.
    verify: async (token) => {
      const { header: given, claims } = decodeToken(token);
      assertNotExpired(claims, now());
      assertHeader(given);
      await assertSignature(token, findKeys(keys, given['kid']));
      const principal = toPrincipal(claims, issuer, now());
      if (Number(claims['iat']) <= revokedAt(principal.name)) throw toFailure('the user has been removed or changed');
      return principal;
    },
    revoke: (name) => {
      for (const [other, at] of revoked) if (now() - at > tokenLifetime + clockTolerance) revoked.delete(other);
      revoked.set(name, now());
    },
  };
};

/** The keys that may have signed a token: the one it names, or all if it names none. */
const findKeys = ({ byId }: Keys, id: unknown): KeyObject[] => {
  if (id === undefined) return [...byId.values()];
  const key = typeof id === 'string' && byId.get(id);
  if (!key) throw toFailure('the key id is unknown');
  return [key];
};

const assertSignature = async (token: string, keys: readonly KeyObject[]): Promise<void> => {
  for (const key of keys) {
    try {
      await compactVerify(token, key, { algorithms: ['HS256'] });
      return;
    } catch (error) {
      if (!(error instanceof errors.JOSEError)) throw error;
    }
  }
  throw toFailure('the signature does not match');
};
