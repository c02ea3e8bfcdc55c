import { isIP } from 'node:net';
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify';
import { HttpError } from '../http/errors.ts';
import type { AccessKeys, RouteAccess } from './access.ts';
import { hasRole, hasScope, type Right, scopesOf } from './rights.ts';
import {
  AccountsUnknown,
  decodeToken,
  type Principal,
  RevokedToken,
  readSession,
  type Session,
  TokenError,
  type Tokens,
} from './token.ts';

/** Headers of a request that identify its sender. */
interface Credentialed {
  headers: { authorization?: string | undefined };
}

/** Returns the token or key of a request. Empty without a credential. */
const readCredential = ({ headers: { authorization = '' } }: Credentialed): string =>
  authorization.replace(/^Bearer(?: +|$)/i, '');

/**
 * Returns the sender of a request's alerts: `key:NAME`, `user:NAME`, or `address:IP` without a valid credential. Never
 * refuses a request, so keys identify senders even on open routes.
 */
export type IdentifySender = (request: Credentialed & { ip: string }) => string;

export const createIdentifySender =
  (tokens: Tokens, keys: AccessKeys): IdentifySender =>
  (request) => {
    const credential = readCredential(request);
    if (credential === '') return toAddress(request.ip);
    const key = keys.find(credential);
    if (key && hasScope('alerts:write', key.scopes)) return `key:${key.name}`;
    try {
      return `user:${tokens.verify(credential).name}`;
    } catch (error) {
      if (error instanceof TokenError || error instanceof AccountsUnknown) return toAddress(request.ip);
      throw error;
    }
  };

/**
 * Normalizes an address. An IPv4 address can be written as IPv6, and a proxy can pass on text that is not an address.
 */
const toAddress = (ip: string | undefined): string => {
  const address = (ip ?? '').replace(/%.*$/, '').replace(/^::ffff:(?=\d+\.)/i, '');
  return `address:${isIP(address) === 0 ? 'unknown' : address}`;
};

const decorator = 'principal';

/** Name of the request decorator for the name of the caller's key. */
const keyDecorator = 'keyName';

/**
 * Creates the hooks that refuse callers who lack a route's right. Open routes get no hooks. `refresh` loads account
 * changes made by other instances.
 */
export const createGuard = (
  app: FastifyInstance,
  authorize: Authorize,
  refresh = async (): Promise<void> => undefined,
) => {
  app.decorateRequest(decorator, undefined);
  app.decorateRequest(keyDecorator, undefined);
  return (allowed: RouteAccess, { isFresh = false }: { isFresh?: boolean } = {}): onRequestHookHandler[] => {
    if (allowed.access === 'open') return [];
    return [
      (request, _reply, done) => {
        const check = (): void => done(attempt(() => authorize(request, allowed)));
        if (isFresh) {
          refresh().then(check, done);
          return;
        }
        const refusal = attempt(() => authorize(request, allowed));
        // Another instance may have issued the token just now.
        if (refusal instanceof OutdatedAccounts) refresh().then(check, () => done(refusal));
        else done(refusal);
      },
    ];
  };
};

/** Runs a check and returns its error, if any, because a hook with a callback must not throw. */
const attempt = (run: () => Error | undefined): Error | undefined => {
  try {
    return run();
  } catch (error) {
    return error as Error;
  }
};

/** 401 for a token that is newer than the accounts known to this process. */
class OutdatedAccounts extends HttpError {}

/** Records the caller. Returns a 401 or 403 error if the caller has no access. */
export type Authorize = (request: FastifyRequest, allowed: RouteAccess) => HttpError | undefined;

export const createAuthorize =
  (tokens: Tokens, keys: AccessKeys): Authorize =>
  (request, { access, right, isSpecified = false }) => {
    if (access === 'open') return undefined;
    const credential = readCredential(request);
    if (credential === '') return missingToken;
    const key = keys.find(credential);
    if (key && hasScope(right, key.scopes)) {
      request.setDecorator(keyDecorator, key.name);
      return undefined;
    }
    if (key && !isSpecified) return toScopeRefusal(right);
    if (!key && keys.isKeyLike(credential)) return new HttpError('unauthorized', 'Unknown or revoked key');
    try {
      const principal = tokens.verify(credential);
      request.setDecorator(decorator, principal);
      if (access === 'token') return undefined;
      if (!hasRole(right, 'Admin')) return needsKey;
      return principal.role === 'Admin' ? undefined : needsAdmin;
    } catch (error) {
      if (!(error instanceof TokenError)) throw error;
      const Refusal = error instanceof RevokedToken && error.isAhead ? OutdatedAccounts : HttpError;
      return new Refusal('unauthorized', error.message);
    }
  };

const missingToken = new HttpError('unauthorized', 'Missing token');
/** Creates the 403 error for a key without the scope. */
const toScopeRefusal = (right: Right): HttpError => {
  const [scope] = scopesOf(right);
  const reason =
    scope === undefined ? 'Keys cannot use this route: log in as a user instead' : `This key lacks the scope ${scope}`;
  return new HttpError('forbidden', reason);
};
const needsKey = new HttpError('forbidden', "This route needs a key, not a user's token");
const needsAdmin = new HttpError('forbidden', 'This request needs the role Admin');

/** Returns the caller of a route that requires a token. */
export const principalOf = (request: FastifyRequest): Principal => request.getDecorator<Principal>(decorator);

/** Returns the name of the caller on a route that requires a token or a key: a user's name, or `key:NAME`. */
export const callerOf = (request: FastifyRequest): string => {
  const key = request.getDecorator<string | undefined>(keyDecorator);
  return key === undefined ? principalOf(request).name : `key:${key}`;
};

/** Returns the caller. Undefined on open routes, because they do not read tokens. */
export const findPrincipal = (request: FastifyRequest): Principal | undefined =>
  request.getDecorator<Principal | undefined>(decorator);

/** Returns the caller's session on a route that requires a token. */
export const sessionOf = (request: FastifyRequest): Session => readSession(readCredential(request));

/** Returns the expiry of the caller's token in Unix seconds. Undefined without a token. */
export const findExpiry = (request: FastifyRequest): number | undefined =>
  findPrincipal(request) && Number(decodeToken(readCredential(request)).claims['exp']);
