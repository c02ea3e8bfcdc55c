import { createHmac } from 'node:crypto';
import { secret } from './credentials.ts';

interface Parts {
  header?: unknown;
  /** Returns the signature of the signing input. Default: HMAC-SHA-256 with the secret of the test apps. */
  sign?: (signed: string) => Uint8Array;
}

/** Rejected token: its fault, the token, and the error in the 401 response. */
export type HostileToken = [fault: string, token: string, message: string | RegExp];

/** Creates the claims of a token that the test apps accept, with changes. A claim set to undefined is omitted. */
export const createClaims = (changes: Record<string, unknown> = {}): Record<string, unknown> => {
  const iat = Math.floor(Date.now() / 1000);
  return { sub: 'admin', role: 'Admin', iss: 'signalbox', iat, exp: iat + 3600, ...changes };
};

/** Signs a token with these claims, without using a library. */
export const signToken = (claims: unknown, { header, sign }: Parts = {}): string => {
  const signed = `${toPart(header ?? { alg: 'HS256', typ: 'JWT' })}.${toPart(claims)}`;
  const signature = (sign ?? createHmacSigner())(signed);
  return `${signed}.${Buffer.from(signature).toString('base64url')}`;
};

/** Creates a token from the given parts with a valid signature. */
export const signParts = (header: string, claims: string): string =>
  `${header}.${claims}.${encode(createHmacSigner()(`${header}.${claims}`))}`;

export const createHmacSigner =
  (key: string | Uint8Array = secret, hash = 'sha256') =>
  (signed: string): Uint8Array =>
    createHmac(hash, key).update(signed).digest();

/** Decodes the object in one part of a token. */
export const readPart = (token: string, index: 0 | 1): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split('.')[index] ?? '', 'base64url').toString());

/** Encodes bytes, or the bytes of a string, as base64url. */
export const encode = (bytes: string | Uint8Array): string => Buffer.from(bytes).toString('base64url');

const toPart = (value: unknown): string => encode(typeof value === 'string' ? value : JSON.stringify(value));
