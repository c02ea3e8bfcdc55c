import { type JsonObject, TokenError, toFailure } from './decode.ts';

export const roles = ['Admin', 'Reader'] as const;
export type Role = (typeof roles)[number];

/** The user that a valid token identifies. */
export interface Principal {
  name: string;
  role: Role;
  issuer: string;
}

/** Seconds for which a token is valid. */
export const tokenLifetime = 3600 as const;

/** Seconds by which the signer's clock may be ahead of ours. */
export const clockTolerance = 60;

/** The only header parameters accepted; `crit`, `b64`, `jwk`, `jku` and others change what a signature means. */
const knownParameters = new Set(['alg', 'typ', 'kid']);

export const assertNotExpired = ({ exp }: JsonObject, now: number): void => {
  if (!Number.isSafeInteger(exp)) throw toFailure('the claim exp is not a whole number');
  if ((exp as number) < now) throw new TokenError('Token expired');
};

export const assertHeader = (header: JsonObject): void => {
  if (header['alg'] !== 'HS256') throw toFailure('the algorithm is not HS256');
  const unknown = Object.keys(header).find((name) => !knownParameters.has(name));
  if (unknown !== undefined) throw toFailure('the header has a parameter that is not supported');
  if (header['typ'] !== undefined && header['typ'] !== 'JWT') throw toFailure('the type is not JWT');
};

/** The user that a token with a valid signature identifies; throws a TokenError for invalid claims. */
export const toPrincipal = (claims: JsonObject, issuer: string, now: number): Principal => {
  const { sub, role, iss, iat, exp, nbf, aud } = claims;
  if (typeof sub !== 'string' || sub === '') throw toFailure('the claim sub is not a name');
  if (!roles.includes(role as Role)) throw toFailure('the claim role is not Admin or Reader');
  if (iss !== issuer) throw toFailure('the claim iss does not match the issuer');
  if (!Number.isSafeInteger(iat)) throw toFailure('the claim iat is not a whole number');
  if ((iat as number) > now + clockTolerance) throw toFailure('the claim iat is in the future');
  if ((exp as number) - (iat as number) > tokenLifetime) throw toFailure('the token is valid for too long');
  if (nbf !== undefined) assertBegun(nbf, now);
  // RFC 7519, 4.1.3: a token for another audience must be refused, and signalbox has no audience name.
  if (aud !== undefined) throw toFailure('the token is for another audience');
  return { name: sub, role: role as Role, issuer };
};

const assertBegun = (nbf: unknown, now: number): void => {
  if (!Number.isSafeInteger(nbf)) throw toFailure('the claim nbf is not a whole number');
  if ((nbf as number) > now + clockTolerance) throw toFailure('the token is not valid yet');
};
