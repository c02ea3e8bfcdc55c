import { compactVerify, errors, SignJWT } from 'jose';
import {
  assertHeader,
  assertNotExpired,
  type Principal,
  type Role,
  tokenLifetime,
  toPrincipal,
} from './claims.ts';
import { decodeToken } from './decode.ts';
import { toFailure } from './token-error.ts';

export interface Tokens {
  /** A signed token for the user, valid for `tokenLifetime` seconds from now. */
  sign(user: { name: string; role: Role }): Promise<string>;
  /** Who the token speaks for; throws a TokenError whose message is the 401's text. */
  verify(token: string): Promise<Principal>;
}

/** Signs and verifies HS256 tokens (RFC 7519) with one key; `secret` is at least 32 bytes (RFC 7518, 3.2). */
export const createTokens = (secret: Uint8Array, issuer: string, clock: () => Date): Tokens => {
  const now = () => Math.floor(clock().getTime() / 1000);
  return {
    sign: ({ name, role }) => {
      const issuedAt = now();
      return new SignJWT({ sub: name, role, iss: issuer, iat: issuedAt, exp: issuedAt + tokenLifetime })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .sign(secret);
    },
    // The order of the checks decides which message a token with several faults gets.
    verify: async (token) => {
      const { header, claims } = decodeToken(token);
      assertNotExpired(claims, now());
      assertHeader(header);
      await assertSignature(token, secret);
      return toPrincipal(claims, issuer, now());
    },
  };
};

const assertSignature = async (token: string, secret: Uint8Array): Promise<void> => {
  try {
    await compactVerify(token, secret, { algorithms: ['HS256'] });
  } catch (error) {
    if (error instanceof errors.JOSEError) throw toFailure('the signature does not match');
    throw error;
  }
};
