import { isIP } from 'node:net';
import type { AccessKeys } from './access-keys.ts';
import { TokenError, type Tokens } from './token.ts';

/** What a request says about its sender. */
export interface Credentialed {
  headers: { authorization?: string | undefined };
}

/** The token or key of a request; empty where there is none. */
export const readCredential = ({ headers: { authorization = '' } }: Credentialed): string =>
  authorization.replace(/^Bearer(?: +|$)/i, '');

/**
 * Who sends alerts with a request: `key:NAME`, `user:NAME`, or `address:IP` where it has no valid credential. Unlike the
 * guard of a route it refuses nobody, so that a key counts on open routes, too.
 */
export type IdentifySender = (request: Credentialed & { ip: string }) => string;

export const createIdentifySender =
  (tokens: Tokens, keys: AccessKeys): IdentifySender =>
  (request) => {
    const credential = readCredential(request);
    if (credential === '') return toAddress(request.ip);
    const key = keys.findName(credential, 'alerts:write');
    if (key !== undefined) return `key:${key}`;
    try {
      return `user:${tokens.verify(credential).name}`;
    } catch (error) {
      if (error instanceof TokenError) return toAddress(request.ip);
      throw error;
    }
  };

/** An IPv4 address may be written as one of IPv6; a proxy may pass on what is no address. */
const toAddress = (ip: string | undefined): string => {
  const address = (ip ?? '').replace(/%.*$/, '').replace(/^::ffff:(?=\d+\.)/i, '');
  return `address:${isIP(address) === 0 ? 'unknown' : address}`;
};
